package interpreter_test

import (
	"context"
	"strings"
	"testing"

	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// TestHandOver: a delivered program hands over to the installed one, also when
// it cannot read what that wrote; no other does.
func TestHandOver(t *testing.T) {
	const staged = delivery.Staging + "Ab1/hostler"
	newer := func(r *rig) {
		r.put(record.File, strings.Replace(r.read(record.File), `"schema_version": 1,`, `"schema_version": 99,`, 1))
		if _, err := r.Store().Head(context.Background()); err == nil {
			t.Fatal("the record can still be read")
		}
	}
	for name, c := range map[string]struct {
		executable string
		change     func(*rig)
		want       string
	}{
		"delivered":            {bin + "hostler", redelivered, bin + "hostler-current"},
		"staged":               {staged, nil, bin + "hostler-current"},
		"newer record":         {bin + "hostler", newer, bin + "hostler-current"},
		"staged, newer":        {staged, newer, bin + "hostler-current"},
		"in a slot":            {bin + "hostler-blue", nil, ""},
		"somewhere else":       {"/root/hostler", nil, ""},
		"other prefix":         {"/opt/h/bin/hostler", nil, ""},
		"current leads to it":  {bin + "hostler", func(r *rig) { redelivered(r); r.ok(host.Symlink(r.Host().Files, "hostler", bin+"hostler-current")) }, ""},
		"current is not there": {staged, func(r *rig) { r.ok(host.Symlink(r.Host().Files, "gone", bin+"hostler-current")) }, ""},
		"nothing installed":    {staged, func(r *rig) { r.remove(record.File) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(withInterpreter))
			if c.change != nil {
				c.change(r)
			}
			got, err := r.Interpreter().Successor(context.Background(), c.executable)
			if err != nil || got != c.want {
				t.Errorf("hands over to %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// redelivered puts a file in the place of the link to the installed program.
func redelivered(r *rig) {
	r.ok(host.Replace(r.Host().Files, bin+"hostler", host.Content{Bytes: []byte("old"), Mode: 0o755}))
}
