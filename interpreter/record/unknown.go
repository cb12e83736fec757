package record

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// unknownFields returns the members of a JSON object that have no field in the
// struct that known points to; nil if there are none.
func unknownFields(data []byte, known any) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	t := reflect.TypeOf(known).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// withUnknown encodes v and appends the unknown members, sorted.
func withUnknown(v any, unknown map[string]json.RawMessage) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil || len(unknown) == 0 {
		return data, err
	}
	names := make([]string, 0, len(unknown))
	for name := range unknown {
		names = append(names, name)
	}
	slices.Sort(names)
	out := bytes.NewBuffer(bytes.TrimSuffix(data, []byte("}")))
	for _, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.WriteByte(',')
		out.Write(key)
		out.WriteByte(':')
		out.Write(unknown[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
