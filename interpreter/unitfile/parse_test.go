package unitfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/unitfile"
)

func rangeText(r unitfile.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
}

// show is a file and its faults, one thing a line.
func show(f *unitfile.File, faults []unitfile.Fault) string {
	var b strings.Builder
	for _, s := range f.Sections {
		fmt.Fprintf(&b, "[%s] %s\n", s.Name, rangeText(s.Range))
		for _, d := range s.Directives {
			fmt.Fprintf(&b, "%s %s = %q %s\n", d.Key, rangeText(d.KeyRange), d.Value, rangeText(d.ValueRange))
		}
	}
	for _, f := range faults {
		fmt.Fprintf(&b, "fault %s %s", rangeText(f.Range), f.Summary)
		if f.Fatal {
			b.WriteString(" (fatal)")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	cases := map[string]struct{ src, want string }{
		"plain": {
			"[Unit]\nDescription=A b\n\n[Service]\n  ExecStart = /bin/a  \n",
			"[Unit] 1:1-1:7\nDescription 2:1-2:12 = \"A b\" 2:13-2:16\n" +
				"[Service] 4:1-4:10\nExecStart 5:3-5:12 = \"/bin/a\" 5:15-5:21\n",
		},
		"comments": {
			"# c\n; d\n[A]\n  # e\nK=v # not a comment\n",
			"[A] 3:1-3:4\nK 5:1-5:2 = \"v # not a comment\" 5:3-5:20\n",
		},
		"continuation with a comment inside": {
			"[S]\nE=/bin/a \\\n# c\n  ; d\n   b \\\n c\nF=1\n",
			"[S] 1:1-1:4\nE 2:1-2:2 = \"/bin/a  b  c\" 2:3-6:3\nF 7:1-7:2 = \"1\" 7:3-7:4\n",
		},
		"escaped backslash does not continue": {
			"[S]\nE=a\\\\\nF=b\n",
			"[S] 1:1-1:4\nE 2:1-2:2 = \"a\\\\\\\\\" 2:3-2:6\nF 3:1-3:2 = \"b\" 3:3-3:4\n",
		},
		"blank line ends a continuation": {
			"[S]\nE=a \\\n\nF=b\n",
			"[S] 1:1-1:4\nE 2:1-2:2 = \"a\" 2:3-2:4\nF 4:1-4:2 = \"b\" 4:3-4:4\n",
		},
		"continuation at the end of the file": {
			"[S]\nE=a \\", "[S] 1:1-1:4\nE 2:1-2:2 = \"a\" 2:3-2:4\n",
		},
		"only a backslash": {"\\\n\\", ""},
		"empty value":      {"[S]\nE=\n", "[S] 1:1-1:4\nE 2:1-2:2 = \"\" 2:3-2:3\n"},
		"value with equals sign": {
			"[S]\nEnvironment=A=b\n", "[S] 1:1-1:4\nEnvironment 2:1-2:12 = \"A=b\" 2:13-2:16\n",
		},
		"characters are not bytes": {
			"[S]\nD=é x=y\n", "[S] 1:1-1:4\nD 2:1-2:2 = \"é x=y\" 2:3-2:8\n",
		},
		"byte-order mark": {"\ufeff[S]\nA=b\n", "[S] 1:2-1:5\nA 2:1-2:2 = \"b\" 2:3-2:4\n"},
		"CRLF": {
			"[S]\r\nE=a \\\r\nb\r\n",
			"[S] 1:1-1:4\nE 2:1-2:2 = \"a  b\" 2:3-3:2\nfault 1:4-2:1 Carriage return\n",
		},
		"lone CR": {"[S]\rA=b\n", "[S] 1:1-1:4\nA 2:1-2:2 = \"b\" 2:3-2:4\nfault 1:4-2:1 Carriage return\n"},
		"NUL":     {"[S]\nA=b\x00C=d\n", "[S] 1:1-1:4\nA 2:1-2:2 = \"b\" 2:3-2:4\nC 3:1-3:2 = \"d\" 3:3-3:4\nfault 2:4-3:1 NUL byte\n"},
		"before a section": {
			"A=b\nC=d\n[S]\nE=f\n", "[S] 3:1-3:4\nE 4:1-4:2 = \"f\" 4:3-4:4\nfault 1:1-1:4 Text before a section\n",
		},
		"junk": {
			"[S]\nhello there\n=v\nA=b\n",
			"[S] 1:1-1:4\nA 4:1-4:2 = \"b\" 4:3-4:4\nfault 2:1-2:12 Line without \"=\"\nfault 3:1-3:3 No name before \"=\"\n",
		},
		"bad header stops": {
			"[S]\nA=b\n[Broken\nC=d\n", "[S] 1:1-1:4\nA 2:1-2:2 = \"b\" 2:3-2:4\nfault 3:1-3:8 Invalid section header (fatal)\n",
		},
		"not UTF-8": {"[S]\nA=\xff\nB=c\n", "[S] 1:1-1:4\nB 3:1-3:2 = \"c\" 3:3-3:4\nfault 2:1-2:4 Not UTF-8\n"},
		"empty":     {"", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := show(unitfile.Parse("a.service", []byte(c.src)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseLongLines(t *testing.T) {
	long := strings.Repeat("x", unitfile.MaxLine)
	for name, src := range map[string]string{
		"one line":     "[S]\nA=" + long + "\nB=c\n",
		"continuation": "[S]\nA=" + long[:len(long)/2] + "\\\n" + long[:len(long)/2] + "\\\n\nB=c\n",
	} {
		f, faults := unitfile.Parse("a.service", []byte(src))
		if len(faults) != 1 || !faults[0].Fatal || faults[0].Summary != "Line too long" {
			t.Errorf("%s: faults %v", name, faults)
		}
		if len(f.All("S", "B")) != 0 {
			t.Errorf("%s: the file went on after a fatal fault", name)
		}
	}
	f, faults := unitfile.Parse("a.service", []byte("[S]\nA="+long[:len(long)-2]+"\n"))
	if len(faults) != 0 || len(f.Last("S", "A")) != len(long)-2 {
		t.Errorf("a line of exactly the limit: %v", faults)
	}
}

// TestParsePositions holds that every range cuts the text it names.
func TestParsePositions(t *testing.T) {
	src := "[Unit]\n  Description = ä b\\\n  # c\n   d \nX=\n[Service]\nExecStart=/a\n"
	f, _ := unitfile.Parse("a.service", []byte(src))
	for _, s := range f.Sections {
		if got := src[s.Range.Start.Byte:s.Range.End.Byte]; got != "["+s.Name+"]" {
			t.Errorf("section %s: %q", s.Name, got)
		}
		for _, d := range s.Directives {
			if got := src[d.KeyRange.Start.Byte:d.KeyRange.End.Byte]; got != d.Key {
				t.Errorf("key %s: %q", d.Key, got)
			}
			if got := src[d.ValueRange.Start.Byte:d.ValueRange.End.Byte]; got != d.Value && !strings.Contains(got, "\\\n") {
				t.Errorf("value of %s: %q, want %q", d.Key, got, d.Value)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"[S]\nA=b\\\n#\n c\n", "\xef\xbb\xbf[", "\\", "=\r\n\x00[]", "[S]\n \\\n=\\\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, faults := unitfile.Parse("a.service", src)
		for _, fault := range faults {
			if fault.Range.End.Byte > len(src) || fault.Range.Start.Byte > fault.Range.End.Byte {
				t.Fatalf("range %+v outside of %d bytes", fault.Range, len(src))
			}
		}
		for _, s := range file.Sections {
			for _, d := range s.Directives {
				if d.Key == "" || string(src[d.KeyRange.Start.Byte:d.KeyRange.End.Byte]) == "" {
					t.Fatalf("directive without a key: %+v", d)
				}
			}
		}
	})
}

func TestFile(t *testing.T) {
	base, _ := unitfile.Parse("a.service", []byte("[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/a\n[Install]\nWantedBy=x.target \"y.target\"\nAlso=b.socket\n"))
	drop, _ := unitfile.Parse("a.service", []byte("[Service]\nExecStart=\nExecStart=/b\nRemainAfterExit=maybe\n[Install]\nWantedBy=z.target\nAlso=\n"))
	f := unitfile.Merge(base, drop)
	if got := f.List("Service", "ExecStart"); !cmp.Equal(got, []string{"/b"}) {
		t.Errorf("a blank assignment must reset: %q", got)
	}
	if got := len(f.All("Service", "ExecStart")); got != 3 {
		t.Errorf("All gives %d assignments, want 3", got)
	}
	if f.Last("Service", "Type") != "oneshot" || f.Last("Service", "Nope") != "" {
		t.Error("Last")
	}
	if !base.Bool("Service", "RemainAfterExit", false) || !f.Bool("Service", "RemainAfterExit", true) || f.Bool("Service", "Nope", false) {
		t.Error("Bool")
	}
	if !f.Has("Install") || f.Has("Timer") {
		t.Error("Has")
	}
	want := unitfile.Install{WantedBy: []string{"x.target", "y.target", "z.target"}}
	if diff := cmp.Diff(want, f.Install()); diff != "" {
		t.Errorf("Install (-want +got):\n%s", diff)
	}
	if want.HasRules() == (unitfile.Install{Also: []string{"a"}}).HasRules() {
		t.Error("Also alone makes no links")
	}
	broken, _ := unitfile.Parse("a.service", []byte("[Install]\nWantedBy=\"x.target\n"))
	if _, err := broken.Words("Install", "WantedBy"); err == nil || broken.Install().HasRules() {
		t.Error("an unclosed quote must lose the list")
	}
	if !strings.Contains(unitfile.Fault{Summary: "S", Detail: "D."}.Error(), "S: D.") {
		t.Error("Fault.Error")
	}
}
