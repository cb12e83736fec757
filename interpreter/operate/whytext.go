package operate

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteWhy writes an answer for people.
func WriteWhy(w io.Writer, a Why) {
	t := &lines{w}
	if !a.Owned {
		t.printf("%s is not owned by %s.\n", a.Asked, named(a))
		if a.Above != "" {
			t.printf("Above it, %s is.\n", a.Above)
		}
		return
	}
	t.printf("%s belongs to %s.\n", a.Asked, named(a))
	if u := a.Unit; u != nil {
		t.printf("It is %s (%s), restarted %d times by the service manager.\n", u.ActiveState, u.SubState, u.Restarts)
	}
	for _, o := range a.Owners {
		t.owner(o)
	}
	for _, r := range a.Restarts {
		t.printf("\n%s restarts it when one of these changes: %s\n", r.Step, strings.Join(r.Watch, ", "))
		t.row("written", place(r.Filename, r.Line))
		t.row("owed", r.Owed)
		t.changes("restarted", r.Changes)
	}
}

func named(a Why) string {
	name := "recipe " + a.Recipe
	if a.RecipeVersion != "" {
		name += " " + a.RecipeVersion
	}
	return name
}

type lines struct{ w io.Writer }

// printf drops write errors: there is nobody left to tell.
func (l *lines) printf(format string, args ...any) { _, _ = fmt.Fprintf(l.w, format, args...) }

func (l *lines) row(name, value string) {
	if value != "" {
		l.printf("  %-12s %s\n", name, value)
	}
}

// origins say what a thing was before.
var origins = map[string]string{
	"absent": "it was not there", "saved": "the original is kept and put back on reset", "adopted": "it was adopted and stays on reset",
	"untouched": "it has not been touched",
}

func (l *lines) owner(o Owner) {
	l.printf("\n%s\n", o.Thing)
	if o.Step == "" {
		l.row("owned by", "hostler itself: a directory made for what is in it")
		l.row("before", origins[o.Origin])
		return
	}
	l.row("owned by", o.Step)
	l.row("written", place(o.Filename, o.Line))
	l.row("stage", o.Stage)
	l.row("for", o.Description)
	l.row("before", origins[o.Origin])
	l.changes("changed", o.Changes)
}

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func (l *lines) changes(word string, all []Change) {
	if len(all) == 0 {
		l.row(word, "not in the runs that are kept")
	}
	for _, c := range all {
		text := fmt.Sprintf("%s, run %d (%s): %s", c.Time.UTC().Format(time.RFC3339), c.Run, c.Command, c.Action)
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		if len(c.Because) > 0 {
			text += ", because of " + strings.Join(c.Because, ", ")
		}
		if c.Drift {
			text += " (it was changed behind our back)"
		}
		l.row(word, text)
		word = ""
	}
}
