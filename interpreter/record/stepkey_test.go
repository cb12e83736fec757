package record_test

import (
	"encoding/json"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
)

// TestStepKeyIsOfTheMeaning: the record is indented on the host, a state is
// not; what a step does is the same in both.
func TestStepKeyIsOfTheMeaning(t *testing.T) {
	key := func(data string) string { return string(record.StepKey(block.Placed{Data: json.RawMessage(data)})) }
	want := key(`{"argv":["a<b"],"n":10000000000000001}`)
	for _, data := range []string{
		"{\n  \"argv\": [\n    \"a<b\"\n  ],\n  \"n\": 10000000000000001\n}",
		`{"argv":["a\u003cb"],"n":10000000000000001}`,
		`{"n":10000000000000001,"argv":["a<b"]}`,
	} {
		if got := key(data); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
	for _, data := range []string{`{"argv":["a<b"],"n":10000000000000000}`, `{"argv":["a<c"]}`, `not JSON`} {
		if key(data) == want {
			t.Errorf("%s has the key of another step", data)
		}
	}
}
