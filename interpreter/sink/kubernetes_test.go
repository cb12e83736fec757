package sink_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/sink"
)

const machine = "/apis/example.com/v1/machines/w1"

// api is a small API server with one object.
type api struct {
	object    map[string]any // nil: not there
	late      int            // answers before it is there
	conflicts int            // patches that come too late
}

func (a *api) answer(_ int, w http.ResponseWriter, r *http.Request, body string) {
	switch r.Method + " " + r.URL.Path {
	case "GET " + machine:
		if a.late--; a.object == nil || a.late >= 0 {
			w.WriteHeader(404)
			return
		}
	case "POST " + strings.TrimSuffix(machine, "/w1"):
		a.object = map[string]any{}
		_ = json.Unmarshal([]byte(body), &a.object)
		a.object["metadata"].(map[string]any)["resourceVersion"] = "1"
		w.WriteHeader(201)
	case "PATCH " + machine + "/status":
		var patch map[string]any
		_ = json.Unmarshal([]byte(body), &patch)
		version := a.object["metadata"].(map[string]any)["resourceVersion"]
		if r.Header.Get("Content-Type") != "application/merge-patch+json" || patch["metadata"].(map[string]any)["resourceVersion"] != version {
			w.WriteHeader(422)
			return
		}
		if a.conflicts--; a.conflicts >= 0 {
			w.WriteHeader(409)
			return
		}
		a.object["status"] = patch["status"]
	default:
		w.WriteHeader(405)
		return
	}
	_ = json.NewEncoder(w).Encode(a.object)
}

func tellObject(t *testing.T, a *api, create string, statuses ...sink.Status) []sink.Fault {
	t.Helper()
	return tellObjectWithin(t, a, create, 10*time.Second, statuses...)
}

func tellObjectWithin(t *testing.T, a *api, create string, bound time.Duration, statuses ...sink.Status) []sink.Fault {
	t.Helper()
	var s *server
	s = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		_, body := s.last()
		if r.Header.Get("Authorization") != "Bearer abc.def" {
			w.WriteHeader(401)
			return
		}
		a.answer(n, w, r, body)
	})
	var faults []sink.Fault
	for _, status := range statuses {
		b := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), []block.Sink{{Label: "node", Timeout: bound, Kubernetes: &block.KubernetesSink{
			Server: s.URL, Object: machine, Condition: "HostReady", Create: create, SinkAccess: block.SinkAccess{Token: "abc.def", CA: s.ca()},
		}}})
		faults = append(faults, b.Close(status)...)
	}
	return faults
}

func conditions(a *api) string {
	data, _ := json.Marshal(a.object["status"])
	return string(data)
}

// TestCondition: our condition is brought up to date, those of others stay.
func TestCondition(t *testing.T) {
	a := &api{conflicts: 1, object: map[string]any{
		"metadata": map[string]any{"resourceVersion": "7", "generation": 3.0},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Other", "status": "True", "extra": 1.0}}},
	}}
	later := failed
	later.Time, later.Cause = at.Add(time.Hour), "again"
	if faults := tellObject(t, a, "", failed, later); faults != nil {
		t.Fatal(faults)
	}
	const want = `{"conditions":[{"extra":1,"status":"True","type":"Other"},{"lastTransitionTime":"2026-05-01T12:01:00Z",` +
		`"message":"stage host: command.a: again: look at a","observedGeneration":3,"reason":"AFailed","status":"False","type":"HostReady"}]}`
	if got := conditions(a); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	ok := running("host")
	ok.Result, ok.Reason, ok.Time = sink.OK, "Succeeded", at.Add(2*time.Hour)
	tellObject(t, a, "", ok)
	if got := conditions(a); !strings.Contains(got, `"lastTransitionTime":"2026-05-01T14:00:00Z"`) || !strings.Contains(got, `"status":"True"`) {
		t.Error(got)
	}
	ok.Reason, ok.Phase = "Reset", "absent"
	tellObject(t, a, "", ok)
	if got := conditions(a); !strings.Contains(got, `"status":"False"`) || !strings.Contains(got, `"reason":"Reset"`) {
		t.Error(got)
	}
	tellObject(t, a, "", running("machine"))
	if got := conditions(a); !strings.Contains(got, `"status":"Unknown"`) || !strings.Contains(got, `"message":"running: stage machine"`) {
		t.Error(got)
	}
}

// TestR152Registers: an object that is not there is made, when the recipe says
// how.
func TestR152Registers(t *testing.T) {
	a := &api{}
	faults := tellObjectWithin(t, a, "", 300*time.Millisecond, failed)
	if len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), machine+": GET to 127.0.0.1") || !strings.Contains(faults[0].Err.Error(), "404") {
		t.Errorf("%v", faults)
	}
	if faults := tellObject(t, a, `{"apiVersion":"example.com/v1","kind":"Machine","metadata":{"name":"w1","labels":{"a":"b"}}}`, failed); faults != nil {
		t.Fatal(faults)
	}
	if a.object["kind"] != "Machine" || !strings.Contains(conditions(a), "AFailed") {
		t.Errorf("%v", a.object)
	}
}

// TestObjectComesLate: one that registers itself is waited for.
func TestObjectComesLate(t *testing.T) {
	a := &api{late: 2, object: map[string]any{"metadata": map[string]any{"resourceVersion": "7"}}}
	if faults := tellObject(t, a, "", failed); faults != nil || a.late >= 0 || !strings.Contains(conditions(a), "AFailed") {
		t.Errorf("%v, %v", faults, a.object)
	}
}
