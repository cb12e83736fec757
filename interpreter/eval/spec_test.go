package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

var update = flag.Bool("update", false, "write the golden sections of the specification suite")

const specDir = "../../testdata/spec"

// specCase is one file of the suite.
type specCase struct {
	archive *txtar.Archive
	options map[string]string
	files   fstest.MapFS
	given   []Given
	facts   host.Facts
	lookups Lookups
}

// The sections that a case is made of; every other one is a file of the
// recipe's tree.
var goldenSections = [...]string{"diagnostics", "steps", "outputs", "fingerprint"}

func readCase(t testing.TB, name string) *specCase {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &specCase{archive: archive, options: map[string]string{}, files: fstest.MapFS{}, facts: debian()}
	for _, line := range strings.Split(string(archive.Comment), "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			c.options[key] = strings.TrimSpace(value)
		}
	}
	var lookups []byte
	for _, f := range archive.Files {
		switch f.Name {
		case "diagnostics", "steps", "outputs", "fingerprint":
		case "inputs.hcl", "inputs.json", "more.hcl":
			c.given = append(c.given, Given{Strength: FromFile, Filename: f.Name, Text: f.Data})
		case "env", "flags", "credentials":
			c.given = append(c.given, lines(f.Name, f.Data)...)
		case "facts.json":
			c.facts = host.Facts{}
			if err := json.Unmarshal(f.Data, &c.facts); err != nil {
				t.Fatal(err)
			}
		case "lookups.json":
			lookups = f.Data
		default:
			c.files["tree/"+f.Name] = &fstest.MapFile{Data: unescape(f.Data, c.options["escapes"] != "")}
		}
	}
	if c.lookups, err = parseLookups(lookups); err != nil {
		t.Fatal(err)
	}
	return c
}

// unescape turns \r and \s at the end of lines into what editors take away.
func unescape(data []byte, on bool) []byte {
	if !on {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\\r\n"), []byte("\r\n"))
	data = bytes.ReplaceAll(data, []byte("\\s\n"), []byte(" \n"))
	return bytes.ReplaceAll(data, []byte("\\BOM"), []byte("\xef\xbb\xbf"))
}

func lines(section string, data []byte) []Given {
	strength := map[string]Strength{"env": FromEnvironment, "flags": FromFlag, "credentials": FromCredential}[section]
	var list []Given
	scan := bufio.NewScanner(bytes.NewReader(data))
	for scan.Scan() {
		name, value, _ := strings.Cut(scan.Text(), "=")
		list = append(list, Given{Strength: strength, Name: name, Text: []byte(value)})
	}
	return list
}

func debian() host.Facts {
	return host.Facts{
		OS:   host.OSRelease{ID: "debian", VersionID: "12", Name: "Debian GNU/Linux"},
		Arch: "amd64", Hostname: "node1", Kernel: "6.1.0", Systemd: 252, Live: true, Root: "/",
	}
}

func (c *specCase) source() Source { return Tree("", fsub(c.files), ".") }

func fsub(files fstest.MapFS) fs.FS {
	sub, err := fs.Sub(files, "tree")
	if err != nil {
		panic(err)
	}
	return sub
}

func (c *specCase) environment() Environment {
	if c.options["offline"] != "" {
		c.facts.Live, c.facts.Root = false, "/srv/tree"
		c.facts.Hostname, c.facts.Kernel, c.facts.Systemd = "", "", 0
	}
	env := Environment{
		Facts: c.facts, Prefix: c.options["prefix"], Lookups: c.lookups,
		Keyed:        func(d string) string { return "keyed:" + d[len("sha256:"):][:8] },
		SkipSupports: c.options["skip_supports"] != "", DeferSensitive: c.options["offline"] != "",
	}
	env.Ownership = &Ownership{InstallationID: "id-1", Recipe: "demo", Fingerprint: "v1:sha256:00", Prefix: "/usr/local"}
	if c.options["offline"] != "" {
		env.Ownership.InstallationID = ""
	}
	if slot := c.options["active"]; slot != "" {
		env.ActiveSlot = func(string, []string) string { return slot }
	}
	return env
}

// result is what a case gives.
type result struct {
	diags   hcl.Diagnostics
	program *Program
	print   string
}

func (c *specCase) run() result {
	loader := StandardLoader{Shipped: func(name string) (Source, error) {
		return Tree("recipe:", fsub(c.files), "shipped/"+name), nil
	}}
	r, diags := Load(c.source(), testVocabulary(), loader, c.options["version"])
	res := result{diags: diags}
	in, more := r.Inputs(c.given)
	if diags.HasErrors() {
		res.diags = append(res.diags, r.Validate(in)...)
		return res
	}
	res.diags = append(res.diags, more...)
	if more.HasErrors() {
		res.diags = append(res.diags, r.Missing(in)...)
		return res
	}
	switch c.options["do"] {
	case "validate":
		res.diags = append(res.diags, r.Validate(in)...)
	case "fingerprint":
		res.print, more = r.Fingerprint(in, c.options["prefix"])
		res.diags = append(res.diags, more...)
	default:
		res.program, more = r.Evaluate(in, c.environment())
		res.diags = append(res.diags, more...)
		res.print = res.program.Fingerprint
	}
	return res
}

// golden renders a result as the golden sections.
func (r result) golden(t testing.TB) map[string]string {
	out := map[string]string{"diagnostics": diagnosticsText(r.diags)}
	if r.program != nil && !r.diags.HasErrors() {
		for _, p := range r.program.Steps {
			out["steps"] += stepText(t, p)
		}
		for _, o := range r.program.Outputs {
			out["outputs"] += outputText(t, o)
		}
	}
	if r.print != "" && r.program == nil {
		out["fingerprint"] = r.print + "\n"
	}
	return out
}

func diagnosticsText(diags hcl.Diagnostics) string {
	var text strings.Builder
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		at := "-"
		if s := d.Subject; s != nil {
			at = fmt.Sprintf("%s:%d,%d-%d,%d", s.Filename, s.Start.Line, s.Start.Column, s.End.Line, s.End.Column)
		}
		fmt.Fprintf(&text, "%s: %s: %s\n    %s\n", at, severity, d.Summary, strings.ReplaceAll(d.Detail, "\n", "\n    "))
	}
	return text.String()
}

func stepText(t testing.TB, p block.Placed) string {
	line := struct {
		Address     string          `json:"address"`
		Phase       string          `json:"phase,omitempty"`
		Stage       string          `json:"stage,omitempty"`
		Machine     string          `json:"machine,omitempty"`
		Part        string          `json:"part,omitempty"`
		Owner       string          `json:"owner,omitempty"`
		Self        string          `json:"self,omitempty"`
		Data        json.RawMessage `json:"data,omitempty"`
		Description string          `json:"description,omitempty"`
		Reason      string          `json:"failure_reason,omitempty"`
		Timeout     string          `json:"timeout,omitempty"`
		Retry       string          `json:"retry,omitempty"`
		OnDrift     string          `json:"on_drift,omitempty"`
		Deferred    string          `json:"deferred,omitempty"`
		Needs       []string        `json:"needs,omitempty"`
		Sensitive   bool            `json:"sensitive,omitempty"`
	}{
		Address: p.Address, Phase: p.Phase, Stage: p.Stage, Machine: p.Machine, Part: p.Part, Owner: p.Owner, Self: p.Self,
		Data: p.Data, Description: p.Description, Reason: p.FailureReason, Deferred: p.Deferred, Needs: p.NeedsInput, Sensitive: p.Sensitive,
	}
	if p.Timeout != 0 {
		line.Timeout = p.Timeout.String()
	}
	if p.Retry != (block.Retry{}) {
		line.Retry = fmt.Sprintf("%d %s %s", p.Retry.Attempts, p.Retry.Delay, p.Retry.MaxDelay)
	}
	if p.OnDrift != block.DriftRepair {
		line.OnDrift = string(p.OnDrift)
	}
	if (p.Step == nil) != (p.Deferred != "") {
		t.Errorf("%s: step %v, deferred %q", p.Address, p.Step, p.Deferred)
	}
	return jsonLine(t, line)
}

func outputText(t testing.TB, o Output) string {
	line := map[string]any{"name": o.Name, "description": o.Description}
	if o.Sensitive {
		line["sensitive"] = true
	} else if o.Value.IsWhollyKnown() {
		v, err := ctyjson.Marshal(o.Value, o.Value.Type())
		if err != nil {
			t.Fatal(err)
		}
		line["value"] = json.RawMessage(v)
	} else {
		line["unknown"] = true
	}
	return jsonLine(t, line)
}

func jsonLine(t testing.TB, v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestSpecification runs the language's specification suite: each file is a
// recipe with what it evaluates to, or the diagnostics it gets.
func TestSpecification(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(specDir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s: %v", specDir, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			c := readCase(t, name)
			got := c.run().golden(t)
			if *update {
				c.write(t, name, got)
			}
			want := map[string]string{"diagnostics": ""}
			for _, f := range c.archive.Files {
				for _, s := range goldenSections {
					if f.Name == s {
						want[s] = string(f.Data)
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func (c *specCase) write(t *testing.T, name string, got map[string]string) {
	var kept []txtar.File
	for _, f := range c.archive.Files {
		if f.Name != "diagnostics" && f.Name != "steps" && f.Name != "outputs" && f.Name != "fingerprint" {
			kept = append(kept, f)
		}
	}
	for _, s := range goldenSections {
		if got[s] != "" {
			kept = append(kept, txtar.File{Name: s, Data: []byte(got[s])})
		}
	}
	c.archive.Files = kept
	if err := os.WriteFile(name, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
