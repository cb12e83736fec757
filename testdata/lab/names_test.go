//go:build e2e

package lab

import (
	"bytes"
	"testing"
)

// TestAnswer: an address, no such record, no such name, and no reply to what is
// no query.
func TestAnswer(t *testing.T) {
	ask := func(kind byte, name string) []byte {
		return append([]byte{7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, append([]byte(name), 0, 0, kind, 0, 1)...)
	}
	names := map[string]string{"a.lab": "10.1.2.3"}
	const wanted = "\x01A\x03lab"
	if got := answer(ask(1, wanted), names); !bytes.HasSuffix(got, []byte{0, 4, 10, 1, 2, 3}) || got[3]&15 != 0 || got[7] != 1 {
		t.Errorf("an address: %v", got)
	}
	if got := answer(ask(28, wanted), names); got[3]&15 != 0 || got[7] != 0 || got[0] != 7 {
		t.Errorf("no such record: %v", got)
	}
	if got := answer(ask(1, "\x01b"), names); got[3]&15 != 3 {
		t.Errorf("no such name: %v", got)
	}
	for _, query := range [][]byte{nil, ask(1, wanted)[:13], ask(1, "\x3fx"), ask(1, wanted)[:21]} {
		if got := answer(query, names); got != nil {
			t.Errorf("%v is answered: %v", query, got)
		}
	}
}
