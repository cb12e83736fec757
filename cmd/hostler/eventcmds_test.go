package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// eventLine is what every event has, and what is checked of some.
type eventLine struct {
	FormatVersion string    `json:"format_version"`
	Type          string    `json:"type"`
	Time          time.Time `json:"time"`
	Address       string    `json:"address"`
	Action        string    `json:"action"`
	Changed       *bool     `json:"changed"`
	DurationMS    *int64    `json:"duration_ms"`
	Stage         string    `json:"stage"`
	Result        string    `json:"result"`
	Summary       *struct {
		Changed   *int `json:"changed"`
		Unchanged *int `json:"unchanged"`
		Failed    *int `json:"failed"`
	} `json:"summary"`
	Diagnostic *struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
	} `json:"diagnostic"`
}

// events FILE TYPE…: the file holds one event a line, well-formed, and their
// types are these, in order; "TYPE*" stands for any number of that type.
func events(ts *testscript.TestScript, _ bool, args []string) {
	var got []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var e eventLine
		ts.Check(json.Unmarshal([]byte(line), &e))
		if fault := e.fault(); fault != "" {
			ts.Fatalf("%s: %s", fault, line)
		}
		got = append(got, e.Type)
	}
	want := args[1:]
	for _, name := range got {
		for len(want) > 0 && strings.HasSuffix(want[0], "*") && strings.TrimSuffix(want[0], "*") != name {
			want = want[1:]
		}
		if len(want) == 0 || strings.TrimSuffix(want[0], "*") != name {
			ts.Fatalf("the events are %v", got)
		}
		if !strings.HasSuffix(want[0], "*") {
			want = want[1:]
		}
	}
	if slices.ContainsFunc(want, func(s string) bool { return !strings.HasSuffix(s, "*") }) {
		ts.Fatalf("the events are %v, and %v are missing", got, want)
	}
}

// fault says what an event lacks.
func (e eventLine) fault() string {
	switch {
	case e.FormatVersion != "1":
		return "no format_version"
	case e.Time.IsZero():
		return "no time"
	}
	switch e.Type {
	case "run_started", "progress":
	case "stage_started":
		if e.Stage == "" {
			return "no stage"
		}
	case "step_started":
		if e.Address == "" || e.Action == "" {
			return "no address or action"
		}
	case "step_finished":
		if e.Address == "" || e.Action == "" || e.Changed == nil || e.DurationMS == nil {
			return "no address, action, changed or duration_ms"
		}
	case "diagnostic":
		if e.Diagnostic == nil || e.Diagnostic.Severity == "" || e.Diagnostic.Summary == "" {
			return "no diagnostic"
		}
	case "run_finished":
		if e.Result == "" || e.Summary == nil || e.Summary.Changed == nil || e.Summary.Unchanged == nil || e.Summary.Failed == nil {
			return "no result or summary"
		}
	default:
		return "unknown type"
	}
	return ""
}

// document FILE [KEY…]: the file is one JSON document that has the keys.
func document(ts *testscript.TestScript, _ bool, args []string) {
	var doc map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	if doc["format_version"] != "1" {
		ts.Fatalf("format_version is %v", doc["format_version"])
	}
	for _, key := range args[1:] {
		if _, ok := doc[key]; !ok {
			ts.Fatalf("there is no %q in %s", key, ts.ReadFile(args[0]))
		}
	}
}
