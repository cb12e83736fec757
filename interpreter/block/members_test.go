package block

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzMembers: it is json.Unmarshal into a map, for every input.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `{"a":1}`, `{"a":"x","b":[1,{"c":"}"}],"d":null,"e":true}`, `{"a":"\"}\\","b":{}}`, `{"a\"b":1}`, `{ "a" : 1 }`, `{"a":1,}`, `{"a":}`, `{"a":1`,
		`{"a":1}}`, `{"a" 1}`, `{"":0}`, `{"a":1,"a":2}`, `{"a":"` + "\x01" + `"}`, `[1]`, `null`, `{"a":01}`, `{"a":tru}`, `{"a":"\x"}`, "{\"\xff\":1}", "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		wrong := json.Unmarshal(data, &want)
		got, err := members(data)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: error %v, want %v", data, err, wrong)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %q, want %q", data, got, want)
		}
	})
}
