package main

import (
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/report"
	"hostler/testdata/demo/fixture"
)

// onTerminal runs the program with a terminal for its results, its notes, or
// both.
func onTerminal(out, notes bool, args ...string) (result, said string) {
	var o, e strings.Builder
	run(args, streams{
		in: strings.NewReader(""), out: report.Pen{W: &o, Color: out}, err: report.Pen{W: &e, Color: notes},
		terminal: notes, width: plainWidth,
		env: func(string) (string, bool) { return "", false }, environ: func() []string { return nil },
	})
	return o.String(), e.String()
}

// TestTerminal: colours and progress are for terminals only.
func TestTerminal(t *testing.T) {
	root := filepath.Join(t.TempDir(), "host")
	if err := fixture.Debian(root); err != nil {
		t.Fatal(err)
	}
	args := []string{"apply", "../../examples/metrics-site", "--root", root, "--var", "site=a"}
	const escape, clear = "\x1b[", "\r\x1b[K"

	out, said := onTerminal(true, true, args...)
	if !strings.Contains(out, escape) {
		t.Errorf("a terminal gets no colours: %q", out)
	}
	if strings.Contains(out, clear) || !strings.Contains(said, "… directory.config: create") || !strings.HasSuffix(said, clear) {
		t.Errorf("progress is not shown and taken away on standard error: %q", said)
	}
	for name, c := range map[string]struct {
		out, notes bool
		more       []string
	}{
		"no terminal":   {false, false, nil},
		"no colours":    {true, false, []string{"--no-color"}},
		"a JSON reader": {true, false, []string{"--output", "json"}},
	} {
		must(t, "reset", "--root", root)
		out, said := onTerminal(c.out, c.notes, append(args, c.more...)...)
		if strings.Contains(out, escape) || said != "" {
			t.Errorf("%s: %q, %q", name, out, said)
		}
	}
	must(t, "reset", "--root", root)
	if _, said := onTerminal(true, true, append(args, "--quiet")...); said != "" {
		t.Errorf("quiet shows progress: %q", said)
	}
	_, said = onTerminal(false, true, "validate", "../../examples/nowhere")
	if !strings.Contains(said, escape) {
		t.Errorf("diagnostics on a terminal have no colours: %q", said)
	}
	_, said = onTerminal(false, true, "validate", "../../examples/nowhere", "--no-color")
	if strings.Contains(said, escape) {
		t.Errorf("--no-color shows colours: %q", said)
	}
}

// TestStandardStreams: NO_COLOR and TERM=dumb are honoured, and a pipe is no
// terminal.
func TestStandardStreams(t *testing.T) {
	for _, env := range [][2]string{{"NO_COLOR", "1"}, {"TERM", "dumb"}, {"TERM", "xterm"}} {
		t.Setenv(env[0], env[1])
		s := standard()
		if s.out.Color && env[1] != "xterm" || s.width < 20 {
			t.Errorf("%v: colour %v, width %d", env, s.out.Color, s.width)
		}
	}
}
