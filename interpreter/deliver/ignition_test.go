package deliver

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_3"
	"github.com/coreos/ignition/v2/config/v3_4"
	"github.com/coreos/ignition/v2/config/v3_4/types"
	"pgregory.net/rapid"

	"hostler/interpreter/delivery"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// parsed is a configuration as Ignition itself reads it, without a complaint.
func parsed(t testing.TB, text []byte) types.Config {
	t.Helper()
	c, report, err := v3_4.Parse(text)
	if err != nil || len(report.Entries) > 0 {
		t.Fatalf("Ignition says %v %v of\n%s", err, report, text)
	}
	return c
}

func rendered(t testing.TB, req Request) []byte {
	t.Helper()
	f := Formats()[0]
	p, err := New(f, req)
	if err != nil {
		t.Fatal(err)
	}
	return f.Encode(p)
}

// TestC81ModesAreDecimal (R192): 0755 is 493 in JSON, and everything says its
// mode.
func TestC81ModesAreDecimal(t *testing.T) {
	text := rendered(t, request())
	c := parsed(t, text)
	want := map[string]int{
		"/opt/hostler/bin/hostler": 493, "/etc/hostler/inputs.hcl": 384, "/etc/hostler/recipe/recipe.hcl": 420, "/etc/hostler/recipe/files/a/b.bin": 420,
		"/etc/hostler": 448, "/etc/hostler/recipe": 448, "/etc/hostler/recipe/files": 448, "/etc/hostler/recipe/files/a": 448,
	}
	got := map[string]int{}
	for _, f := range c.Storage.Files {
		got[f.Path] = *f.Mode
	}
	for _, d := range c.Storage.Directories {
		got[d.Path] = *d.Mode
	}
	if !maps.Equal(got, want) {
		t.Errorf("modes are %v, want %v", got, want)
	}
	if !bytes.Contains(text, []byte(`"mode": 384,`)) {
		t.Errorf("0600 is not the number 384 in\n%s", text)
	}
}

// TestC82EnabledUnit: the unit is whole, has a type and something to be enabled
// by, and is enabled; a validator that warns of all that is silent.
func TestC82EnabledUnit(t *testing.T) {
	c := parsed(t, rendered(t, request()))
	if len(c.Systemd.Units) != 1 {
		t.Fatalf("units: %v", c.Systemd.Units)
	}
	u := c.Systemd.Units[0]
	if u.Name != delivery.BootUnit || !strings.HasSuffix(u.Name, ".service") || u.Enabled == nil || !*u.Enabled {
		t.Errorf("unit %s, enabled %v", u.Name, u.Enabled)
	}
	if !strings.Contains(*u.Contents, "\n[Install]\nWantedBy=multi-user.target\n") || !strings.HasSuffix(*u.Contents, "\n") {
		t.Errorf("the unit is\n%s", *u.Contents)
	}
	if strings.ContainsAny(*u.Contents, `'"$%`+"\\") {
		t.Errorf("something in the unit does not stand for itself:\n%s", *u.Contents)
	}
}

// TestC85SpecVersion (R191): exactly 3.4.0, and nothing that it does not have.
func TestC85SpecVersion(t *testing.T) {
	text := rendered(t, request())
	if SpecVersion != "3.4.0" || !bytes.Contains(text, []byte(`"version": "3.4.0"`)) {
		t.Errorf("the version is not 3.4.0 in\n%s", text)
	}
	parsed(t, text)
	if _, _, err := v3_3.Parse(text); err == nil {
		t.Error("a reader of 3.3 takes it")
	}
	if f := format(t, "ignition"); !strings.Contains(f.Needs, MinimumIgnition) || !strings.Contains(f.Needs, SpecVersion) {
		t.Errorf("the format does not say what it needs: %s", f.Needs)
	}
}

// TestR199NoEmptySections: what there is nothing of is not there.
func TestR199NoEmptySections(t *testing.T) {
	req := request()
	req.Inputs, req.Recipe = nil, Recipe{Argument: "recipe:debian/12/nspawn-worker"}
	pointer := ignitionPointer(Source{"https://a.example/x.ign", sum})
	for _, text := range [][]byte{rendered(t, req), pointer} {
		parsed(t, text)
		if bytes.Contains(text, []byte("null")) || bytes.Contains(text, []byte("[]")) || bytes.Contains(text, []byte("{}")) || bytes.Contains(text, []byte(`""`)) {
			t.Errorf("something is empty in\n%s", text)
		}
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(pointer, &top); err != nil || len(top) != 1 {
		t.Errorf("a pointer has the sections %v", sorted(top))
	}
	if strings.Contains(string(rendered(t, req)), "directories") {
		t.Error("directories without a file in them")
	}
}

// content is what a source in a configuration stands for.
func content(t testing.TB, r types.Resource) []byte {
	t.Helper()
	text, ok := strings.CutPrefix(*r.Source, "data:;base64,")
	if !ok {
		t.Fatalf("source %.40s", *r.Source)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Compression == nil || *r.Compression == "" {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestR194AnyBytes: every content comes back byte by byte, NUL, line ends and
// what is no text too, compressed or not.
func TestR194AnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		data = bytes.Repeat(data, rapid.IntRange(0, 40).Draw(t, "times"))
		req := request()
		req.Inputs = append([]byte{}, data...)
		text, err := New(Formats()[0], req)
		if err != nil {
			t.Fatal(err)
		}
		c, report, err := v3_4.Parse(ignition(text))
		if err != nil || len(report.Entries) > 0 {
			t.Fatalf("%v %v", err, report)
		}
		var source types.Resource
		for _, f := range c.Storage.Files {
			if f.Path == delivery.InputsHCL {
				source = f.Contents
			}
		}
		raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(*source.Source, "data:;base64,"))
		if source.Compression != nil && *source.Compression == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if raw, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			if len(raw) <= len(*source.Source)*3/4 {
				t.Fatalf("compressed, and not smaller: %d", len(raw))
			}
		}
		if !bytes.Equal(raw, data) {
			t.Fatalf("%q came back as %q", data, raw)
		}
	})
}

// TestR191Fetched: the program is fetched and held to its digest, and so is a
// whole configuration by its pointer.
func TestR191Fetched(t *testing.T) {
	req := request()
	req.SHA256 = strings.ToUpper(sum) + "  hostler"
	whole := rendered(t, req)
	program := parsed(t, whole).Storage.Files[len(req.Recipe.Files)+1]
	if program.Path != "/opt/hostler/bin/hostler" || *program.Contents.Source != req.URL || *program.Contents.Verification.Hash != "sha256-"+sum || !*program.Overwrite {
		t.Errorf("the program is %+v", program)
	}
	if got := content(t, parsed(t, whole).Storage.Files[0].Contents); string(got) != string(req.Inputs) {
		t.Errorf("inputs are %q", got)
	}
	text, err := format(t, "ignition").Pointer("s3://bucket/x.ign", whole)
	if err != nil {
		t.Fatal(err)
	}
	replace := parsed(t, text).Ignition.Config.Replace
	if *replace.Source != "s3://bucket/x.ign" || len(*replace.Verification.Hash) != len("sha256-")+64 || len(text) > 400 {
		t.Errorf("the pointer is\n%s", text)
	}
}
