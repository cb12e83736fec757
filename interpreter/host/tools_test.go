package host_test

import (
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

func TestLookTool(t *testing.T) {
	h := newHost(t)
	put(t, h.Files, "/usr/bin/tool", "", 0o755)
	put(t, h.Files, "/usr/sbin/first", "", 0o700)
	put(t, h.Files, "/sbin/first", "", 0o755)
	put(t, h.Files, "/usr/bin/data", "", 0o644)
	put(t, h.Files, "/bin/data", "", 0o001)
	put(t, h.Files, "/opt/bin/elsewhere", "", 0o755)
	link(t, h.Files, "/usr/bin/tool", "/usr/local/bin/linked")
	link(t, h.Files, "nowhere", "/usr/local/bin/dangling")
	link(t, h.Files, "loop", "/usr/local/bin/loop")
	if err := h.Files.MkdirAll("/usr/bin/dir", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"tool": "/usr/bin/tool", "first": "/usr/sbin/first", "data": "/bin/data", "linked": "/usr/local/bin/linked",
		"/usr/bin/tool": "/usr/bin/tool", "/opt/bin/../bin/elsewhere": "/opt/bin/elsewhere",
	} {
		if got, err := host.LookTool(h.Files, name); err != nil || got != want {
			t.Errorf("LookTool(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{
		"absent", "elsewhere", "dangling", "loop", "dir", "", ".", "..", "/", "bin/tool", "./tool", "/usr/bin/data", "/usr/bin/dir", "a\x00b",
	} {
		got, err := host.LookTool(h.Files, name)
		if !errors.Is(err, host.ErrNoTool) || got != "" {
			t.Errorf("LookTool(%q) = %q, %v; want host.ErrNoTool", name, got, err)
		} else if !strings.Contains(err.Error(), strings.Trim(name, "\x00ab")) {
			t.Errorf("LookTool(%q): %q does not name the tool", name, err)
		}
	}
}
