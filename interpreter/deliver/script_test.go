package deliver

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/delivery"
)

// hostile is a request whose values try to be more than text.
func hostile() Request {
	req := request()
	req.URL = "https://a.example/hostler?a=1&b=$(id)&c=%27"
	req.Inputs = []byte("x = \"'; rm -rf $HOME `id` \\\n_END_\n\"\n")
	req.Recipe.Files["/etc/hostler/recipe/files/it's $(id) `id` \"x\""] = []byte("_END_\n")
	return req
}

// TestScriptSyntax: a shell reads all that is written for one.
func TestScriptSyntax(t *testing.T) {
	f := format(t, "script")
	for name, req := range map[string]Request{"plain": request(), "hostile": hostile()} {
		text := f.Encode(payload(t, f, req))
		pointer, err := f.Pointer(req.URL, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range [][]byte{text, pointer, writeFiles(t, cloudConfig(payload(t, f, req)))[cloudScript].content} {
			cmd := exec.Command("sh", "-n")
			cmd.Stdin = bytes.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s\n%s", name, err, out, script)
			}
			if bytes.Contains(script, []byte("@")) && !bytes.Contains(script, []byte("$@")) {
				t.Errorf("%s: a word was left to fill in\n%s", name, script)
			}
		}
	}
}

// TestScriptIsInert: no value runs as a command; files come out byte by byte
// wherever they are put.
func TestScriptIsInert(t *testing.T) {
	req := hostile()
	p := payload(t, format(t, "script"), req)
	dir := t.TempDir()
	functions, _, _ := strings.Cut(scriptText, "\n# fetch FILE")
	_, functions, _ = strings.Cut(functions, "\n# dir MODE")
	commands := strings.ReplaceAll(puts(p), "'/etc/", "'"+dir+"/etc/")
	cmd := exec.Command("sh", "-euc", "umask 077\nmkdir -p '"+dir+"/etc/systemd/system'\n# dir MODE"+functions+"\n"+commands+"\nprintf %s "+quote(req.URL))
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != req.URL {
		t.Fatalf("%v %s", err, out)
	}
	for _, f := range append(p.Files, unitFile(p.Unit)) {
		got, mode := read(t, filepath.Join(dir, f.Path))
		if string(got) != string(f.Content) || mode != f.Mode {
			t.Errorf("%s is %o %q, want %o %q", f.Path, mode, got, f.Mode, f.Content)
		}
	}
	for _, d := range p.Dirs {
		if mode := modeOf(t, filepath.Join(dir, d.Path)); mode != d.Mode {
			t.Errorf("%s is %o, want %o", d.Path, mode, d.Mode)
		}
	}
	left, err := filepath.Glob(dir + "/etc/*/*/*.new")
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// written is an entry of write_files.
type written struct {
	content     []byte
	permissions string
	order       int
}

// writeFiles are the entries of a cloud-config, the last of each path.
func writeFiles(t *testing.T, text []byte) map[string]written {
	t.Helper()
	if !bytes.HasPrefix(text, []byte("#cloud-config\n")) {
		t.Errorf("the first line is %.20q", text)
	}
	v, err := ctyyaml.Standard.Unmarshal(text, cty.DynamicPseudoType)
	if err != nil {
		ty, typeErr := ctyyaml.Standard.ImpliedType(text)
		if typeErr != nil {
			t.Fatalf("%v in\n%s", typeErr, text)
		}
		if v, err = ctyyaml.Standard.Unmarshal(text, ty); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]written{}
	for i, e := range v.GetAttr("write_files").AsValueSlice() {
		name, perm := e.GetAttr("path").AsString(), e.GetAttr("permissions").AsString()
		data := decode(t, e.GetAttr("encoding").AsString(), e.GetAttr("content").AsString())
		if before, twice := all[name]; twice && (len(before.content) > 0 || before.permissions != perm || before.order != i-1) {
			t.Errorf("%s is written twice", name)
		} else if !twice && perm[2:] == "00" && len(data) > 0 {
			t.Errorf("%s is written before it has its mode", name)
		}
		all[name] = written{data, perm, i}
	}
	run := v.GetAttr("runcmd").AsValueSlice()
	if len(run) != 1 || run[0].LengthInt() != 2 || run[0].AsValueSlice()[1].AsString() != cloudScript {
		t.Errorf("runcmd is %#v", v.GetAttr("runcmd"))
	}
	return all
}

// TestCloudConfig: the files of the payload, the unit among them, and a script
// that does the rest and removes itself; inputs are never readable by others.
func TestCloudConfig(t *testing.T) {
	f := format(t, "cloud-init")
	for _, req := range []Request{request(), hostileNames()} {
		p := payload(t, f, req)
		got := writeFiles(t, f.Encode(p))
		want := append(p.Files, unitFile(p.Unit))
		if len(got) != len(want)+1 {
			t.Errorf("entries are %v", sorted(got))
		}
		for _, file := range want {
			if w := got[file.Path]; string(w.content) != string(file.Content) || w.permissions != octal(file.Mode) {
				t.Errorf("%s is %s %q", file.Path, w.permissions, w.content)
			}
		}
		run := string(got[cloudScript].content)
		if !strings.Contains(run, "\nsync\nrm -rf "+cloudDir+"\ntidy\n") || !strings.Contains(run, "dir 0700 '/etc/hostler/recipe'\n") || strings.Contains(run, "put 0") {
			t.Errorf("the script is\n%s", run)
		}
		if !strings.HasPrefix(cloudScript, delivery.Staging) || got[cloudScript].permissions != "0700" {
			t.Errorf("the script is %s %s", got[cloudScript].permissions, cloudScript)
		}
	}
	text, err := f.Pointer("https://a.example/whole", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if got := writeFiles(t, text); len(got) != 1 || !strings.Contains(string(got[cloudScript].content), "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881") {
		t.Errorf("the pointer is\n%s", text)
	}
}

// hostileNames has a file whose name YAML could take for something else.
func hostileNames() Request {
	req := request()
	req.Recipe.Files["/etc/hostler/recipe/files/yes: \"no\" # ä {x}"] = []byte("a")
	return req
}

// TestStagedOffTmp (R156): nothing is put in /tmp, which may be noexec.
func TestStagedOffTmp(t *testing.T) {
	for _, f := range Formats() {
		p := payload(t, f, request())
		pointer, err := f.Pointer("https://a.example/whole", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{f.Encode(p), pointer, []byte(fill(p, "", "")), []byte(fillPointer(p.Program, ""))} {
			if bytes.Contains(text, []byte("/tmp/")) {
				t.Errorf("%s uses /tmp:\n%s", f.Name, text)
			}
		}
	}
	if !strings.Contains(scriptText, "mktemp -d @STAGING@") || !strings.HasPrefix(delivery.Staging, "/var/lib/hostler/") {
		t.Error("the program is not staged below /var/lib/hostler")
	}
}
