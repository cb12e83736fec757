package block_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func str(s string) cty.Value { return cty.StringVal(s) }

func list(items ...string) cty.Value {
	vals := make([]cty.Value, len(items))
	for i, s := range items {
		vals[i] = str(s)
	}
	return cty.ListVal(vals)
}

// Every rule that refuses says what to write.
func TestPresets(t *testing.T) {
	long := strings.Repeat("a", 250) + ".service"
	for _, c := range []struct {
		attr  block.Attr
		value cty.Value
		want  string // "" is accepted
	}{
		{block.Mode("m", ""), str("0644"), ""},
		{block.Mode("m", ""), str("01777"), ""},
		{block.Mode("m", ""), str("0000"), ""},
		{block.Mode("m", ""), str("0999"), `write one such as "0644"`},
		{block.Mode("m", ""), str("644"), `write "0644"`},
		{block.Mode("m", ""), str("0"), `write "0000"`},
		{block.Mode("m", ""), str("77777"), "the largest"},
		{block.Mode("m", ""), str("u+x"), "octal"},
		{block.Duration("d", ""), str("1h30m"), ""},
		{block.Duration("d", ""), str("0s"), ""},
		{block.Duration("d", ""), str("30"), `write "30s" or "30m"`},
		{block.Duration("d", ""), str("soon"), `such as "30s"`},
		{block.Duration("d", ""), str("-1s"), `from "0s" on`},
		{block.AbsPath("p"), str("/etc/x"), ""},
		{block.AbsPath("p"), str("/"), ""},
		{block.AbsPath("p"), str("etc/x"), `for example "/etc/x"`},
		{block.AbsPath("p"), str("/etc//x/"), `write "/etc/x"`},
		{block.AbsPath("p"), str("/etc/../x"), `write "/x"`},
		{block.AbsPath("p"), str("/a\x00"), "NUL"},
		{block.AbsPath("p"), str("/a\nb"), "control character"},
		{block.AbsPath("p"), str("/a/\x1b[31mb"), `"/a/\x1b[31mb" holds a control character`},
		{block.AbsPath("p"), str("/a/Größe b"), ""},
		{block.AbsPath("p"), str("/a/" + strings.Repeat("x", 255)), ""},
		{block.AbsPath("p"), str("/a/" + strings.Repeat("x", 256) + "/b"), "a name of 256 bytes; 255 is the most"},
		{block.AbsPath("p"), str(strings.Repeat("/abc", 1023)), ""},
		{block.AbsPath("p"), str(strings.Repeat("/abc", 1024)), "4096 bytes long; 4095 is the most"},
		{block.AbsPath("p"), str(""), "write an absolute path"},
		{block.Argv("a"), list("ls", ""), ""},
		{block.Argv("a"), list("my program", "x"), ""},
		{block.Argv("a"), list("", "x"), "starts with the program"},
		{block.Argv("a"), cty.ListValEmpty(cty.String), "starts with the program"},
		{block.Argv("a"), list("systemctl restart x"), "each word as a string of its own"},
		{block.Argv("a"), list("a", "b\x00"), "NUL"},
		{block.Argv("a"), cty.ListVal([]cty.Value{str("a"), cty.NullVal(cty.String)}), "null"},
		{block.Argv("a"), cty.ListVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}), ""},
		{block.Texts("t"), list("a", "b"), ""},
		{block.Texts("t"), list("a", ""), "empty string"},
		{block.Texts("t"), cty.ListVal([]cty.Value{cty.NullVal(cty.String)}), "null"},
		{block.Text("t"), str("any\nthing"), ""},
		{block.Text("t"), str("a\x00"), "leave it out"},
		{block.Owner("o"), str("www-data"), ""},
		{block.Owner("o"), str("1000"), ""},
		{block.Group("g"), str("a:b"), "no group name"},
		{block.Owner("o"), str(""), "no user name"},
		{block.UnitName("u"), str("a@b.service"), ""},
		{block.UnitName("u"), str(`mnt-data\x2ddisk.mount`), ""},
		{block.UnitName("u"), str("a"), `"a.service"`},
		{block.UnitName("u"), str("a.conf"), "no unit type"},
		{block.UnitName("u"), str("a b.service"), "unit_escape()"},
		{block.UnitName("u"), str(".service"), "no unit name"},
		{block.UnitName("u"), str("@b.service"), "no unit name"},
		{block.UnitName("u"), str("a@b@c.service"), "no unit name"},
		{block.UnitName("u"), str(long), "255 is the most"},
		{block.URL("u"), str("https://example.com:8443/x?y"), ""},
		{block.URL("u"), str("example.com"), "starts with https://"},
		{block.URL("u"), str("https://"), "names a host"},
		{block.URL("u"), str("https://u:secret@example.com"), "leave them out"},
		{block.Choice("c", "", "a", "b"), str("b"), ""},
		{block.Choice("c", "", "a", "b"), str("c"), `write one of "a", "b"`},
		{block.Count("n", 1), cty.NumberIntVal(1), ""},
		{block.Count("n", 1), cty.NumberIntVal(0), "1 or more"},
		{block.Count("n", 1), cty.NumberFloatVal(1.5), "whole number"},
	} {
		err := c.attr.Check(c.value)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %#v: %v, want %q", c.attr.Grammar, c.value, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestPresetsAreMarked(t *testing.T) {
	a := block.AbsPath("p").Must().Names().MaySecret().Says("doc")
	if !a.Required || !a.Owned || !a.Sensitive || a.Doc != "doc" || a.Grammar == "" {
		t.Errorf("%+v", a)
	}
	if a := block.Mode("m", "0644"); !a.Default.RawEquals(str("0644")) {
		t.Errorf("%+v", a)
	}
	if a := block.Duration("m", ""); a.Default != cty.NilVal {
		t.Errorf("%+v", a)
	}
	if a := block.Switch("s", true); !a.Default.True() {
		t.Errorf("%+v", a)
	}
}

func TestBase64IsMadeCanonical(t *testing.T) {
	convert := block.Base64("b").Convert
	if v, err := convert(str("AAH/\n /g==\n")); err != nil || v.AsString() != "AAH//g==" {
		t.Errorf("%#v, %v", v, err)
	}
	if _, err := convert(str("%")); err == nil || !strings.Contains(err.Error(), "filebase64()") {
		t.Error(err)
	}
	for _, v := range []cty.Value{cty.NullVal(cty.String), cty.NumberIntVal(1)} {
		if got, err := convert(v); err != nil || !got.RawEquals(v) {
			t.Errorf("%#v, %v", got, err)
		}
	}
}

func TestParsed(t *testing.T) {
	if mode, err := block.ParseMode("04755"); err != nil || mode != 0o4755 {
		t.Errorf("%o, %v", mode, err)
	}
	if d, err := block.ParseDuration("90s"); err != nil || d != 90*time.Second {
		t.Errorf("%s, %v", d, err)
	}
}

func TestLookupOwnerReadsTheHostsOwnFiles(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{
		"/etc/passwd": {Content: "# comment\nroot:x:0:0\nweb:x:33:99::/:/bin/sh\nbad:x:many:0\nshort\n"},
		"/etc/group":  {Content: "web:x:34:\n"},
	}}).Host()
	for _, c := range []struct {
		owner, group string
		uid, gid     int
		err          string
	}{
		{"", "", 0, 0, ""},
		{"root", "root", 0, 0, ""},
		{"web", "web", 33, 34, ""},
		{"7", "8", 7, 8, ""},
		{"ghost", "", 0, 0, `no user "ghost" in /etc/passwd; create it first`},
		{"web", "ghost", 33, 0, `no group "ghost" in /etc/group`},
		{"bad", "", 0, 0, `in /etc/passwd: the line of "bad" holds "many"`},
	} {
		uid, gid, err := block.LookupOwner(h.View(), c.owner, c.group)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && (uid != c.uid || gid != c.gid) {
			t.Errorf("%s:%s is %d:%d, %v", c.owner, c.group, uid, gid, err)
		}
	}
	bare := memory.New(memory.Options{}).Host()
	if err := bare.Files.RemoveAll("/etc/passwd"); err != nil {
		t.Fatal(err)
	}
	_, _, err := block.LookupOwner(bare.View(), "web", "")
	if missing, ok := errors.AsType[*block.NoAccountError](err); !ok || missing.File != "/etc/passwd" {
		t.Error(err)
	}
	if err := bare.Files.Mkdir("/etc/passwd", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := block.LookupOwner(bare.View(), "web", ""); err == nil || !strings.Contains(err.Error(), `user "web"`) {
		t.Error(err)
	}
	for name, known := range map[string]bool{"": true, "root": true, "12": true, "web": false, "-1": false} {
		if _, _, ok := block.OwnerNumbers(name, "0"); ok != known {
			t.Errorf("OwnerNumbers(%q) is %v", name, ok)
		}
	}
}

func TestOrUnknown(t *testing.T) {
	change, err := block.OrUnknown("/etc/x", host.Unknownf("it is not unpacked"))
	if err != nil || change.Action != block.ActionUnknown || change.Reason != "it is not unpacked" {
		t.Errorf("%+v, %v", change, err)
	}
	if change, err = block.OrUnknown("/etc/x", host.ErrUnknown); err != nil || change.Reason != "unknown" {
		t.Errorf("%+v, %v", change, err)
	}
	if _, err := block.OrUnknown("/etc/x", errors.New("broken")); err == nil || err.Error() != "/etc/x: broken" {
		t.Error(err)
	}
}
