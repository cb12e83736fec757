package block

import (
	"bytes"
	"encoding/json"
)

// members splits a JSON object into its members. It is json.Unmarshal into a
// map of raw values, without the cost of looking at each value twice: steps are
// made of plain data at every run. What it does not understand it leaves to
// json.Unmarshal, and so every fault.
func members(data []byte) (map[string]json.RawMessage, error) {
	if obj, ok := splitMembers(data); ok {
		return obj, nil
	}
	var obj map[string]json.RawMessage
	err := json.Unmarshal(data, &obj)
	return obj, err
}

// splitMembers is for compact objects, as json.Marshal writes them, whose keys
// need no escapes.
func splitMembers(data []byte) (map[string]json.RawMessage, bool) {
	if len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return nil, false
	}
	obj := map[string]json.RawMessage{}
	for rest := data[1:]; ; {
		key, after, ok := splitKey(rest)
		if !ok {
			return nil, false
		}
		end := valueEnd(after)
		if end <= 0 || !json.Valid(after[:end]) || len(bytes.TrimSpace(after[:end])) != end {
			return nil, false
		}
		obj[key] = after[:end:end]
		switch rest = after[end:]; {
		case rest[0] == ',':
			rest = rest[1:]
		case len(rest) == 1:
			return obj, true
		default:
			return nil, false
		}
	}
}

// splitKey takes `"key":` off.
func splitKey(data []byte) (key string, after []byte, ok bool) {
	if len(data) == 0 || data[0] != '"' {
		return "", nil, false
	}
	end := bytes.IndexByte(data[1:], '"') + 1
	if end < 1 || end+1 >= len(data) || data[end+1] != ':' || bytes.ContainsFunc(data[1:end], odd) {
		return "", nil, false
	}
	return string(data[1:end]), data[end+2:], true
}

// odd are the characters that a simple key does not have.
func odd(r rune) bool { return r < ' ' || r > '~' || r == '\\' }

// valueEnd is where the value that data begins with ends: at a comma or brace
// outside of it; 0 when there is none.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			n := stringEnd(data[i+1:])
			if n < 0 {
				return 0
			}
			i += n + 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// stringEnd is the place of the quote that ends a string, -1 if there is none.
func stringEnd(data []byte) int {
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
