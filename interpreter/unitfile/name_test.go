package unitfile_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hostler/interpreter/unitfile"
)

func TestParseName(t *testing.T) {
	good := map[string]unitfile.Name{
		"a.service":                  {Prefix: "a", Type: "service"},
		"getty@tty1.service":         {Prefix: "getty", Instance: "tty1", Type: "service"},
		"getty@.service":             {Prefix: "getty", Type: "service", Template: true},
		"a@b@c.socket":               {Prefix: "a", Instance: "b@c", Type: "socket"},
		`mnt-data\x2ddisk.mount`:     {Prefix: `mnt-data\x2ddisk`, Type: "mount"},
		"-.mount":                    {Prefix: "-", Type: "mount"},
		"x.service.service":          {Prefix: "x.service", Type: "service"},
		"systemd-nspawn@k.1.service": {Prefix: "systemd-nspawn", Instance: "k.1", Type: "service"},
	}
	for text, want := range good {
		got, err := unitfile.ParseName(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
	}
	for text, complaint := range map[string]string{
		"":                                    "empty",
		"a":                                   "does not end in a unit type",
		"a.conf":                              "does not end in a unit type",
		".service":                            "nothing before its type",
		"@.service":                           "nothing before the @",
		"@x.service":                          "nothing before the @",
		"a/b.service":                         "character",
		"ü.service":                           "character",
		"a b.service":                         "character",
		strings.Repeat("a", 250) + ".service": "255 is the most",
	} {
		if _, err := unitfile.ParseName(text); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%q: error %v, want %q", text, err, complaint)
		}
	}
	n, _ := unitfile.ParseName("a@b.service")
	if !n.IsInstance() || n.TemplateName().String() != "a@.service" || n.Of("c").String() != "a@c.service" || !n.TemplateName().Template {
		t.Error("instances and templates")
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"a/b-c": `a-b\x2dc`, ".x": `\x2ex`, `a\b`: `a\x5cb`, "ü": `\xc3\xbc`, "a.b:_": "a.b:_", "@": `\x40`, "": "",
	} {
		if got := unitfile.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"/": "-", "/mnt/data-disk": `mnt-data\x2ddisk`, "/a//b/": "a-b", "/.x/y": `\x2ex-y`} {
		got, err := unitfile.EscapePath(text)
		if err != nil || got != want {
			t.Errorf("EscapePath(%q) = %q %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a/b", "/a/../b", ""} {
		if _, err := unitfile.EscapePath(text); err == nil {
			t.Errorf("EscapePath(%q) must fail", text)
		}
	}
}

// unescaped is the inverse of Escape: a backslash only starts \xHH.
func unescaped(t *rapid.T, s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '-':
			out = append(out, '/')
		case '\\':
			c, err := strconv.ParseUint(strings.TrimPrefix(s[i:i+4], `\x`), 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			out, i = append(out, byte(c)), i+3
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

func TestEscapeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if back := unescaped(t, unitfile.Escape(text)); back != text {
			t.Fatalf("%q came back as %q", text, back)
		}
		if _, err := unitfile.ParseName("a" + unitfile.Escape(text) + ".service"); err != nil && len(text) < 50 {
			t.Fatalf("an escaped name is refused: %v", err)
		}
	})
}

func TestKnown(t *testing.T) {
	cases := []struct {
		section, key string
		since        int
		ok           bool
	}{
		{"Unit", "After", 0, true}, {"Service", "ExecStart", 0, true}, {"Service", "ExecCondition", 243, true},
		{"Service", "MemoryMax", 231, true}, {"Service", "KillMode", 0, true}, {"Service", "ImportCredential", 254, true},
		{"Slice", "MemoryMax", 231, true}, {"Slice", "ExecStart", 0, false}, {"Unit", "WantsMountsFor", 256, true},
		{"Install", "UpheldBy", 254, true}, {"Exec", "Boot", 0, true}, {"Files", "BindUser", 249, true}, {"Network", "Zone", 230, true},
		{"Service", "Execstart", 0, false}, {"Nope", "After", 0, false}, {"@exec", "User", 0, false},
		{"X-Mine", "Any", 0, true}, {"Service", "X-Any", 0, true}, {"Socket", "TriggerLimitBurst", 230, true}, {"Path", "TriggerLimitBurst", 250, true},
	}
	for _, c := range cases {
		since, ok := unitfile.Known(c.section, c.key)
		if since != c.since || ok != c.ok {
			t.Errorf("[%s] %s: %d %v, want %d %v", c.section, c.key, since, ok, c.since, c.ok)
		}
	}
	for _, section := range []string{"Unit", "Service", "Socket", "Timer", "Mount", "Path", "Install", "Exec", "Files", "Network"} {
		keys := unitfile.Directives(section)
		if len(keys) == 0 || !slices.IsSorted(keys) {
			t.Errorf("[%s] has no sorted directives", section)
		}
		for _, key := range keys {
			if _, ok := unitfile.Known(section, key); !ok {
				t.Errorf("[%s] %s is listed and not known", section, key)
			}
		}
	}
	if unitfile.Directives("@exec") != nil || unitfile.Directives("Nope") != nil {
		t.Error("a group or an unknown section has no directives")
	}
}
