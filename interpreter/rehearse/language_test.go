package rehearse_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
	"hostler/interpreter/rehearse"
	"hostler/interpreter/rehearse/format"
)

var update = flag.Bool("update", false, "write what is found as what is wanted")

// suite is a recipe with tests in an archive.
func suite(a *txtar.Archive) (*rehearse.Suite, hcl.Diagnostics) {
	files := fstest.MapFS{}
	for _, f := range a.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return load(files)
}

func load(files fstest.MapFS) (*rehearse.Suite, hcl.Diagnostics) {
	at := rehearse.Place{
		Name: "site", Dir: "site", Recipe: eval.Tree("site", files, "."), Files: files,
		Previous: func(dir string) (eval.Source, error) {
			if _, err := fs.Stat(files, "tests/"+dir+"/recipe.hcl"); err != nil {
				return nil, err
			}
			return eval.Tree("site", files, "tests/"+dir), nil
		},
	}
	return rehearse.Load(at, rehearse.Language{Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}})
}

func options() rehearse.Options {
	return rehearse.Options{Now: func() time.Time { return time.Time{} }, Code: code}
}

// code stands for the exit codes of the program.
func code(err error) int {
	if _, invalid := errors.AsType[hcl.Diagnostics](err); invalid {
		return 65
	}
	if _, refused := errors.AsType[*record.RefusedError](err); refused {
		return 73
	}
	if _, unmet := errors.AsType[*interpreter.UnmetError](err); unmet {
		return 78
	}
	return 1
}

// header is the recipe block of archives that bring none.
const header = `recipe "site" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({})
  supports "debian" { id = "debian" }
}
`

// TestLanguage runs the archives in testdata: files of a recipe and its tests,
// and "want", what test writes about them. A recipe without a recipe block gets
// one.
func TestLanguage(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, files := take(a, "want")
			got := tested(t, &txtar.Archive{Files: complete(files)}, strings.Contains(string(a.Comment), "no laws"))
			if *update {
				a.Files = append(files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func take(a *txtar.Archive, name string) (text string, rest []txtar.File) {
	for _, f := range a.Files {
		if f.Name == name {
			text = string(f.Data)
			continue
		}
		rest = append(rest, f)
	}
	return text, rest
}

// complete gives recipes a recipe block.
func complete(files []txtar.File) []txtar.File {
	out := slices.Clone(files)
	for i, f := range out {
		if strings.HasSuffix(f.Name, "recipe.hcl") && !bytes.HasPrefix(f.Data, []byte("recipe ")) {
			out[i].Data = append([]byte(header), f.Data...)
		}
	}
	return out
}

// tested is what test writes.
func tested(t *testing.T, a *txtar.Archive, noLaws bool) string {
	t.Helper()
	s, diags := suite(a)
	var b bytes.Buffer
	if diags.HasErrors() {
		if err := hcl.NewDiagnosticTextWriter(&b, s.Sources, 100, false).WriteDiagnostics(diags); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	opts := options()
	opts.NoLaws = noLaws
	res := s.Run(t.Context(), opts)
	r := format.Report{Results: []rehearse.Result{res}, Coverage: true, Verbose: true, Width: 1000}
	if err := format.Write(&b, "text", r); err != nil {
		t.Fatal(err)
	}
	// Which effect it is says nothing about the language.
	return regexp.MustCompile(`at effect [0-9]+: [^,]*,`).ReplaceAllString(b.String(), "at an effect,")
}

// TestGolden: a golden plan is written when that is asked for, and is then what
// the plan is compared with.
func TestGolden(t *testing.T) {
	files := fstest.MapFS{
		"recipe.hcl":          {Data: []byte(header + "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"one\\n\"\n}\n")},
		"tests/plan.test.hcl": {Data: []byte("test \"plan\" {\n run \"plan\" {\n golden = \"golden/plan.txt\"\n }\n}\n")},
	}
	run := func(update bool) rehearse.Result {
		s, diags := load(files)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		opts := options()
		opts.Update = update
		return s.Run(t.Context(), opts)
	}
	if res := run(false); res.Failed() != 1 || !strings.Contains(res.Cases[0].Failures.Error(), "--update") {
		t.Errorf("without a golden plan: %v", res.Cases[0].Failures)
	}
	res := run(true)
	if res.Failed() != 0 || !strings.Contains(res.Golden["golden/plan.txt"], "create  write_file_if_changed.x") {
		t.Fatalf("with --update: %+v", res)
	}
	for name, text := range res.Golden {
		files["tests/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	if res := run(false); res.Failed() != 0 || len(res.Golden) != 0 {
		t.Errorf("with the golden plan: %+v", res)
	}
	files["tests/golden/plan.txt"] = &fstest.MapFile{Data: []byte("nothing\n")}
	if res := run(false); res.Failed() != 1 || !strings.Contains(res.Cases[0].Failures.Error(), "- nothing") {
		t.Errorf("with another plan: %v", res.Cases[0].Failures)
	}
}

// TestUpgrade: the law upgrade-prunes is tried with every earlier version.
func TestUpgrade(t *testing.T) {
	file := func(name, content string) string {
		return "write_file_if_changed \"" + name + "\" {\n path = \"/etc/" + name + "\"\n content = \"" + content + "\"\n}\n"
	}
	files := fstest.MapFS{
		"recipe.hcl":                           {Data: []byte(header + file("a", "two"))},
		"tests/previous/1.0.0/recipe.hcl":      {Data: []byte(header + file("a", "one") + file("gone", "x"))},
		"tests/previous/0.9.0/recipe.hcl":      {Data: []byte(header + "command \"c\" {\n argv = [\"make\"]\n creates = \"/etc/made\"\n}\n")},
		"tests/upgrade.test.hcl":               {Data: []byte("test \"up\" {\n host {\n executables = [\"make\"]\n program \"make\" {\n file \"/etc/made\" {}\n }\n }\n run \"apply\" {}\n}\n")},
		"tests/previous/1.0.0/files/unrelated": {Data: []byte("x")},
	}
	s, diags := load(files)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, c := range s.Run(t.Context(), options()).Cases {
		if c.Law == "upgrade-prunes" {
			got[c.Name] = c.Failures.Error()
		}
	}
	if len(got) != 2 || got["up, from previous/1.0.0"] != "no diagnostics" || !strings.Contains(got["up, from previous/0.9.0"], "/etc/made") {
		t.Errorf("%v", got)
	}
}

// TestOnly: tests are picked by name, and by file.
func TestOnly(t *testing.T) {
	test := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("test \"" + name + "\" {\n run \"plan\" {}\n}\n")}
	}
	files := fstest.MapFS{"recipe.hcl": {Data: []byte(header)}, "tests/a.test.hcl": test("first"), "tests/b.test.hcl": test("second")}
	s, diags := load(files)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	opts := options()
	opts.Match = func(name string) bool { return name == "second" }
	opts.Parallel = 1
	if res := s.Run(t.Context(), opts); len(res.Cases) != 1 || res.Cases[0].Name != "second" {
		t.Errorf("%+v", res.Cases)
	}
	s.Only = []string{"a.test.hcl"}
	s, diags = rehearse.Load(s.Place, s.Language)
	if diags.HasErrors() || len(s.Tests) != 1 {
		t.Errorf("%v, %v", s.Tests, diags)
	}
}

// TestForms: JSON and JUnit say what text says.
func TestForms(t *testing.T) {
	a, err := txtar.ParseFile("testdata/fails.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, files := take(a, "want")
	s, diags := suite(&txtar.Archive{Files: complete(files)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	opts := options()
	opts.NoLaws = true
	r := format.Report{Results: []rehearse.Result{s.Run(t.Context(), opts)}, Coverage: true, Width: 100}
	wants := map[string][]string{
		"json":  {`"format_version": "1"`, `"passed": false`, `"name": "an assertion that does not hold"`, `"summary": "Assertion failed"`, `"missed": [`},
		"junit": {`<testsuites name="hostler test" tests="`, `classname="site/tests/fails.test.hcl"`, `<failure message="Assertion failed">`},
	}
	for name, parts := range wants {
		var b bytes.Buffer
		if err := format.Write(&b, name, r); err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(b.String(), part) {
				t.Errorf("%s does not hold %q:\n%s", name, part, b.String())
			}
		}
	}
	if err := format.Write(&bytes.Buffer{}, "yaml", r); err == nil {
		t.Error("yaml is no form")
	}
	if got := slices.Sorted(maps.Keys(wants)); !slices.Equal(append(got, "text"), []string{"json", "junit", "text"}) || len(format.Names()) != 3 {
		t.Errorf("forms %v", format.Names())
	}
}
