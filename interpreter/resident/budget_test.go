package resident

import (
	"strings"
	"testing"
	"time"
)

// TestBudget: what is changed back again and again is left to people after a
// while, which is said once, and looked after again an hour later.
func TestBudget(t *testing.T) {
	s := newSite(t, recipe)
	s.put("/etc/a.conf", "edited\n")
	r := daemonOf(s)
	repaired, held := 0, 0
	r.heard = func(text string) {
		switch {
		case strings.HasPrefix(text, "repaired"):
			if repaired++; held > 0 {
				r.cancel()
			}
			s.put("/etc/a.conf", "edited\n")
		case strings.Contains(text, "is left as it is now"):
			if held++; repaired != Budget || !strings.Contains(text, "write_file_if_changed.a was repaired 5 times") {
				t.Errorf("after %d repairs: %s", repaired, text)
			}
			if n := r.note(); len(n.Repairs["write_file_if_changed.a"]) != Budget {
				t.Errorf("status file: %+v", n)
			}
		}
	}
	began := s.Host().Clock.Now()
	s.ok(r.run())
	if held != 1 || s.Host().Clock.Now().Sub(began) < time.Hour {
		t.Errorf("held %d times, repaired %d times, within %s", held, repaired, s.Host().Clock.Now().Sub(began))
	}
	left := 0
	for _, e := range s.events {
		if e.Warning.Summary == "Left as it is" {
			left++
		}
	}
	if left != 1 {
		t.Errorf("that it is left was said %d times, want once", left)
	}
}

// TestBudgetOutlivesTheDaemon: a daemon that is started anew goes on counting.
func TestBudgetOutlivesTheDaemon(t *testing.T) {
	s := newSite(t, recipe)
	for n := range Budget {
		s.put("/etc/a.conf", "edited\n")
		r := daemonOf(s)
		r.heard = func(string) { r.cancel() }
		s.ok(r.run())
		if s.read("/etc/a.conf") != "a\n" {
			t.Fatalf("repair %d did not take place: %q", n, r.said)
		}
	}
	s.put("/etc/a.conf", "edited\n")
	r := daemonOf(s)
	r.heard = func(string) { r.cancel() }
	s.ok(r.run())
	if s.read("/etc/a.conf") != "edited\n" || !strings.Contains(strings.Join(r.said, ""), "is left as it is now") {
		t.Errorf("it was repaired once more: %q", r.said)
	}
}
