package format_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/format"
	"hostler/interpreter/lint/rules"
)

var update = flag.Bool("update", false, "write the golden files")

const recipe = `recipe "demo" {
  language = 1
  version  = "1.0.0"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }
}

# Größe, 日本: columns are counted.
write_file_if_changed "日本" {
  path    = "/etc/демо/a b.conf"
  mode    = 0644
  content = "x\n"
}

systemd_unit "demo.service" {
  source = "files/demo 1.service"
}

directory "open" {
  path = "/srv/open"
  mode = "0777"
}

directory "shared" {
  path = "/srv/shared"
  mode = "0777" # hostler:ignore world-writable one <user> & "no" other
}
`

const unit = "[Service]\nExecStart=/usr/bin/demo --password=opensesame\r\nNise=1\n"

// found is the result of a recipe with findings of all kinds, and of one
// without any.
func found(t *testing.T) format.Report {
	t.Helper()
	all := rules.All()
	l := &lint.Linter{Rules: all, Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}}
	source := func(name, text string) eval.Source {
		return eval.Tree(name, fstest.MapFS{"recipe.hcl": {Data: []byte(text)}, "files/demo 1.service": {Data: []byte(unit)}}, ".")
	}
	clean := strings.SplitAfter(recipe, "\n}\n")[0]
	report := format.Report{Rules: all, Version: "0.1.0", Results: l.All([]lint.Input{
		{Source: source("site", recipe), Config: lint.DefaultConfig(all)},
		{Source: source("clean", clean), Config: lint.DefaultConfig(all)},
	})}
	if len(report.Results[0].Findings) < 3 || len(report.Results[0].Suppressed) != 1 || len(report.Results[1].Findings) > 0 {
		t.Fatalf("%+v", report.Results)
	}
	return report
}

func write(t *testing.T, name string, r format.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := format.Write(&out, name, r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.Bytes()
}

// TestGolden holds every form to its golden file; the rules are left out of
// SARIF there, for they change.
func TestGolden(t *testing.T) {
	for _, name := range format.Names() {
		r := found(t)
		if name == "sarif" {
			r.Rules = r.Rules[:1]
		}
		got := write(t, name, r)
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
	if err := format.Write(&bytes.Buffer{}, "yaml", format.Report{}); err == nil {
		t.Error("yaml is no form")
	}
}

// TestSARIFSchema holds the document to what the standard requires of it.
func TestSARIFSchema(t *testing.T) {
	schema, err := os.ReadFile("testdata/sarif-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []format.Report{found(t), {Version: "0.1.0"}} {
		faults, err := validate(schema, write(t, "sarif", r))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
	for _, bad := range []string{`{"version": "2.0.0", "runs": []}`, `{"version": "2.1.0"}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`,
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "rules": [{"id": 1}]}}}]}`, `{"version": "2.1.0", "runs": [], "more": 1}`} {
		if faults, err := validate(schema, []byte(bad)); err != nil || len(faults) == 0 {
			t.Errorf("%s passes (%v)", bad, err)
		}
	}
}

// TestSARIFIndexes: every result names its rule by place and by id.
func TestSARIFIndexes(t *testing.T) {
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Fixes     []any
			}
		}
	}
	if err := json.Unmarshal(write(t, "sarif", found(t)), &log); err != nil {
		t.Fatal(err)
	}
	fixes := 0
	for _, r := range log.Runs[0].Results {
		if got := log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID; got != r.RuleID {
			t.Errorf("%s has the index of %s", r.RuleID, got)
		}
		fixes += len(r.Fixes)
	}
	if fixes == 0 {
		t.Error("no fix is offered")
	}
}

// TestWellFormed: XML is parsed again, with every text as it was.
func TestWellFormed(t *testing.T) {
	r := found(t)
	for _, name := range []string{"junit", "checkstyle"} {
		out := write(t, name, r)
		d := xml.NewDecoder(bytes.NewReader(out))
		var seen string
		for {
			token, err := d.Token()
			if token == nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					seen += a.Value + "\n"
				}
			}
		}
		for _, res := range r.Results {
			for _, f := range res.Findings {
				if !strings.Contains(seen, f.Summary) || !strings.Contains(seen, f.Range.Filename) {
					t.Errorf("%s lacks %q", name, f.Summary)
				}
			}
		}
	}
}

// TestSecretsAreNotShown: the line of a secret stands in no form.
func TestSecretsAreNotShown(t *testing.T) {
	r := found(t)
	for _, name := range format.Names() {
		if out := write(t, name, r); bytes.Contains(out, []byte("opensesame")) {
			t.Errorf("%s shows the secret", name)
		}
	}
}

func TestColor(t *testing.T) {
	r := found(t)
	r.Color = true
	out := string(write(t, "text", r))
	if !strings.Contains(out, "\x1b[31merror\x1b[0m") || !strings.Contains(out, "\x1b[33mwarning\x1b[0m") {
		t.Errorf("%q", out)
	}
}

func TestTextOfFixes(t *testing.T) {
	r := found(t)
	var fixable lint.Finding
	for _, f := range r.Results[0].Findings {
		if f.Fix != nil {
			fixable = f
		}
	}
	out := string(write(t, "text", format.Report{Results: r.Results[1:], Fixed: []lint.Finding{fixable}, Refused: []lint.Refusal{{Finding: fixable, Reason: "it would hurt"}}}))
	for _, want := range []string{"site/recipe.hcl: fixed: " + fixable.Fix.Message, "not fixed, it would hurt", "Nothing found in 1 recipe."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}

// full is a writer whose disk is full.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	r := found(t)
	for _, name := range format.Names() {
		if err := format.Write(full{}, name, r); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
