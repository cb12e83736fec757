package editlines_test

import (
	"strings"
	"testing"

	editlines "hostler/builtins/blocks/edit_lines"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/thing"
)

type files = map[string]memory.File

func on(f files) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Files: f}).Host() }
}

const fstab = "# /etc/fstab\nUUID=1 / ext4 defaults 0 1\n/dev/sda2\tnone swap sw 0 0\n  # /old none swap sw 0 0\n/swapfile none swap sw 0 0"

const noSwap = `
	path = "/etc/fstab"
	comment { match = ".*\\sswap\\s.*" }
`

func TestContract(t *testing.T) {
	cases := map[string]blocktest.Case{
		"comment": {Body: noSwap, Host: on(files{"/etc/fstab": {Content: fstab, Mode: 0o600, UID: 3}})},
		"all three, through a link": {Body: `
			path = "/etc/demo.conf"
			comment { match = "X11.*" }
			replace {
				match = "(Max)\\s+(.*)"
				with  = "$1=$2"
			}
			ensure { line = "Port 22" }
			ensure {
				line  = "Level 3"
				match = "#?Level .*"
			}
		`, Host: on(files{"/etc/demo.conf": {Link: "real.conf"}, "/etc/real.conf": {Content: "X11 yes\nMax  4\n#Level 1\nLevel 2\n"}})},
		"new file": {Body: `
			path = "/etc/new.d/a.conf"
			ensure { line = "a" }
		`, Host: on(nil)},
		"nothing there to comment": {Body: noSwap, Host: on(nil), Quiet: true},
		"done already":             {Body: noSwap, Host: on(files{"/etc/fstab": {Content: "# /dev/sda2 none swap sw 0 0\n"}}), Quiet: true},
		"on a real tree":           {Body: noSwap, Host: realTree},
	}
	for name, c := range cases {
		c.Type = editlines.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func realTree(t *testing.T) host.Host {
	h, err := offline.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := offline.Close(h); err != nil {
			t.Error(err)
		}
	})
	if err := h.Files.Mkdir("/etc", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := host.Replace(h.Files, "/etc/fstab", host.Content{Bytes: []byte(fstab), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	return h
}

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, h host.Host, name, content string) {
	t.Helper()
	if err := host.Replace(h.Files, name, host.Content{Bytes: []byte(content), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
}

func TestEdits(t *testing.T) {
	for name, c := range map[string]struct{ edits, before, after string }{
		"comment once":              {`comment { match = "a.*" }`, "a1\n# a2\n\ta3\nb\n", "# a1\n# a2\n\ta3\nb\n"},
		"anchored":                  {`comment { match = "a" }`, "ab\nba\na\n", "ab\nba\n# a\n"},
		"other mark":                {"comment {\nmatch = \"a.*\"\nprefix = \";\"\n}", "a\n;a\n", ";a\n;a\n"},
		"line ends stay":            {"replace {\nmatch = \"a\"\nwith = \"b\"\n}", "a\r\na\nc", "b\r\nb\nc"},
		"ensure at the end":         {`ensure { line = "z" }`, "a", "a\nz\n"},
		"ensure in place":           {"ensure {\nline = \"k=2\"\nmatch = \"#?k=.*\"\n}", "#k=0\nk=1\nx\n", "#k=0\nk=2\nx\n"},
		"ensured already":           {"ensure {\nline = \"k=2\"\nmatch = \"k=.*\"\n}", "k=2\nk=1\n", "k=2\nk=1\n"},
		"written order":             {"replace {\nmatch = \"a\"\nwith = \"b\"\n}\ncomment { match = \"b\" }", "a\n", "# b\n"},
		"empty lines and bytes":     {`comment { match = "x" }`, "\n\xff\xfe\n\nx\n", "\n\xff\xfe\n\n# x\n"},
		"a file without any line":   {`ensure { line = "a" }`, "", "a\n"},
		"groups":                    {"replace {\nmatch = \"(\\\\w+)=(\\\\w+)\"\nwith = \"$2 $1\"\n}", "k=v\n", "v k\n"},
		"replaced by what it holds": {"replace {\nmatch = \"a|b\"\nwith = \"b\"\n}", "b\na\n", "b\nb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := blocktest.NewStage(on(files{"/f": {Content: c.before}})(t))
			s.MustApply(t, blocktest.Step(t, editlines.Type(), "path = \"/f\"\n"+c.edits))
			if got := read(t, s.Host, "/f"); got != c.after {
				t.Errorf("%q becomes %q, want %q", c.before, got, c.after)
			}
		})
	}
}

// What others did to the file meanwhile stays.
func TestResetOfAFileThatOthersEdited(t *testing.T) {
	for name, c := range map[string]struct{ edits, before, theirs, after string }{
		"comment":                {`comment { match = "a.*" }`, "a1\na2\nb\n", "# a1\n# a2\nb\nc\n", "a1\na2\nb\nc\n"},
		"a line of ours is gone": {`comment { match = "a.*" }`, "a1\na2\n", "# a2\nc\n", "a2\nc\na1\n"},
		"ensured":                {`ensure { line = "z" }`, "a\n", "z\nb\n", "b\n"},
		"alike afterwards":       {"replace {\nmatch = \"a.*\"\nwith = \"x\"\n}", "a1\nb\na2\na3\n", "x\nb\nx\nx\nc\n", "a1\nb\na2\na3\nc\n"},
		"alike before":           {"replace {\nmatch = \"a\"\nwith = \"x\"\n}", "x\na\nx\n", "x\nx\nx\nc\n", "x\na\nx\nc\n"},
		"alike, and one is gone": {"replace {\nmatch = \"a.*\"\nwith = \"x\"\n}", "a1\na2\n", "x\nc\n", "a2\nc\na1\n"},
		"alike once more":        {"replace {\nmatch = \"a\"\nwith = \"x\"\n}\nensure { line = \"z\" }", "a\n", "x\nz\nx\nz\n", "a\nx\nz\n"},
		"ensured in place":       {"ensure {\nline = \"k=2\"\nmatch = \"k=.*\"\n}", "k=1\n", "k=2\nx\n", "k=1\nx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := blocktest.NewStage(on(files{"/f": {Content: c.before}})(t))
			step := blocktest.Step(t, editlines.Type(), "path = \"/f\"\n"+c.edits)
			s.MustApply(t, step)
			write(t, s.Host, "/f", c.theirs)
			s.MustReset(t, step)
			if got := read(t, s.Host, "/f"); got != c.after {
				t.Errorf("after reset %q, want %q", got, c.after)
			}
		})
	}
}

func TestResetOfAMadeFile(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	step := blocktest.Step(t, editlines.Type(), "path = \"/etc/f\"\nensure { line = \"a\" }")
	s.MustApply(t, step)
	write(t, s.Host, "/etc/f", "a\ntheirs\n")
	s.MustReset(t, step)
	if got := read(t, s.Host, "/etc/f"); got != "theirs\n" {
		t.Errorf("after reset %q", got)
	}
}

func TestAFileThatIsNotWorldReadableIsNotShown(t *testing.T) {
	s := blocktest.NewStage(on(files{"/f": {Content: "a\n", Mode: 0o640}})(t))
	change := s.MustCheck(t, blocktest.Step(t, editlines.Type(), "path = \"/f\"\nensure { line = \"b\" }"))
	if change.Action != block.ActionUpdate || !change.Diffs[0].Secret {
		t.Errorf("%+v", change)
	}
}

func TestRefusals(t *testing.T) {
	h := memory.New(memory.Options{Files: files{"/d": {Dir: true}, "/f": {Content: "a\n"}, "/usr/f": {Content: "a\n"}}, ReadOnly: []string{"/usr"}}).Host()
	for body, want := range map[string]string{
		"path = \"/d\"\nensure { line = \"a\" }":                        "a directory is there",
		"path = \"/usr/f\"\nensure { line = \"b\" }":                    "read-only file system",
		"path = \"/f\"\nreplace {\nmatch = \"a.*\"\nwith = \"aa$0\"\n}": "do not come to rest",
	} {
		_, err := blocktest.NewStage(h).Check(blocktest.Step(t, editlines.Type(), body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		`path = "/f"`: "Write at least one of comment",
		"path = \"/f\"\ncomment { match = \"(\" }":                   "no regular expression",
		"path = \"/f\"\nensure { line = \"a\\nb\" }":                 "one line of text",
		"path = \"/f\"\nensure { line = \"\" }":                      "one line of text",
		"path = \"f\"\nensure { line = \"a\" }":                      "write an absolute path",
		"path = \"/f\"\ncomment { prefix = \"# \" }":                 "match is required",
		"path = \"/f\"\nreplace { match = \"a\" }":                   "with is required",
		"path = \"/f\"\ncomment {\nmatch = \"a\"\nprefix = \" \"\n}": "Blanks mark nothing",
	} {
		if got := blocktest.Faults(editlines.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
