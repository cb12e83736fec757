package resident

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// TestFetchSaysThatItTriesAgain: a server that is not there yet is no silence of
// minutes, and what is said holds nothing of the query.
func TestFetchSaysThatItTriesAgain(t *testing.T) {
	const program = "new"
	s := newSite(t, "")
	tries := 0
	s.SetNetwork(func(n *memory.Network) {
		n.HTTP = map[string]http.Handler{"dl.example": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if tries++; tries < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte(program))
		})}
	})
	got, err := Fetch(context.Background(), s.interpreter(), "https://dl.example/hostler?sig=topsecret", strings.TrimPrefix(thing.Digest([]byte(program)), "sha256:"))
	if err != nil || string(got) != program {
		t.Fatalf("%q, %v", got, err)
	}
	if len(s.events) != 2 {
		t.Fatalf("%d events: %+v", len(s.events), s.events)
	}
	for i, want := range []string{"attempt 1, again in 1s", "attempt 2, again in "} {
		e := s.events[i]
		if e.Kind != walk.Diagnosed || e.Time.IsZero() || e.Warning.Summary != "Passing fault" ||
			!strings.HasPrefix(e.Warning.Detail, "https://dl.example/hostler: ") || !strings.Contains(e.Warning.Detail, want) || strings.Contains(e.Warning.Detail, "topsecret") {
			t.Errorf("event %+v", e)
		}
	}
}
