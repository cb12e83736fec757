package interpreter_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// lookedUp applies a recipe whose file holds the value of an expression, and
// returns it.
func lookedUp(r *rig, expression string) (string, error) {
	r.Helper()
	_, err := r.run(apply, a("write_file_if_changed \"l\" {\n path = \"/etc/looked\"\n content = jsonencode("+expression+")\n}\n"))
	if err != nil {
		return "", err
	}
	return r.read("/etc/looked"), nil
}

// TestLookups: what expressions may ask of a host.
func TestLookups(t *testing.T) {
	o := memory.Options{
		Files: map[string]memory.File{
			"/srv/a.conf": {Content: "abc"}, "/srv/b.conf": {Content: "b"}, "/srv/.hidden.conf": {Content: ""}, "/srv/sub/c.conf": {Content: ""},
			"/srv/link": {Link: "a.conf"}, "/srv/dangling": {Link: "nothing"},
		},
		Units:    []memory.Unit{{Name: "theirs.service", Enabled: true, Running: true}},
		Machines: []memory.Machine{{Name: "other", Running: true}},
		Network:  memory.Network{Listeners: []host.ListenerState{{Address: "0.0.0.0:22"}}},
	}
	for expression, want := range map[string]string{
		`file_exists("/srv/a.conf")`:                 "true",
		`file_exists("/srv/link")`:                   "true",
		`file_exists("/srv/dangling")`:               "false",
		`file_exists("/srv/none/x")`:                 "false",
		`file_sha256("/srv/a.conf")`:                 `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`,
		`glob("/srv/*.conf")`:                        `["/srv/a.conf","/srv/b.conf"]`,
		`glob("/srv/.*.conf")`:                       `["/srv/.hidden.conf"]`,
		`glob("/srv/*/c.conf")`:                      `["/srv/sub/c.conf"]`,
		`glob("/srv/none/*")`:                        `[]`,
		`executable("sh")`:                           `"/usr/bin/sh"`,
		`executable("none")`:                         `null`,
		`machine_registered("other")`:                "true",
		`machine_registered("none")`:                 "false",
		`unit_state("theirs.service").active`:        `"active"`,
		`listener("0.0.0.0:22") != null`:             "true",
		`listener("0.0.0.0:23") == null`:             "true",
		`unit_state("none.service").load`:            `"not-found"`,
		`length(glob("/srv/[")) == 0 ? "none" : "x"`: "",
	} {
		t.Run(expression, func(t *testing.T) {
			got, err := lookedUp(newRig(t, o), expression)
			if want == "" {
				if err == nil {
					t.Errorf("%s: there is no error", expression)
				}
				return
			}
			if err != nil || got != want {
				t.Errorf("%s is %s, %v; want %s", expression, got, err, want)
			}
		})
	}
}

// TestLookupsOffline: what only a running host could tell waits for it.
func TestLookupsOffline(t *testing.T) {
	for _, expression := range []string{`machine_registered("x")`, `unit_state("x.service").active`} {
		r := newRig(t, memory.Options{Offline: true})
		out, err := r.run(apply, a("write_file_if_changed \"l\" {\n path = \"/etc/looked\"\n content = jsonencode("+expression+")\n}\n"))
		if err != nil || !out.Deferred {
			t.Errorf("%s: outcome %+v, %v", expression, out, err)
		}
	}
	r := newRig(t, memory.Options{})
	r.Refuse(memory.CallUnit, errors.New("no reply"))
	if _, err := lookedUp(r, `unit_state("x.service").active`); err == nil || !strings.Contains(err.Error(), "no reply") {
		t.Errorf("error %v", err)
	}
}

// TestUsedRecipes: a recipe that uses others is stored with them and their
// files, and driven to again without them.
func TestUsedRecipes(t *testing.T) {
	tree := fstest.MapFS{
		"top/recipe.hcl": {Data: []byte(strings.Replace(text(""), `"site"`, `"top"`, 1) + "use \"base\" {\n source = \"../base\"\n inputs = { word = \"hello\", secret = var.token }\n}\n" +
			"variable \"token\" {\n type = string\n sensitive = true\n}\n" + one)},
		"base/recipe.hcl": {Data: []byte("recipe \"base\" {\n language = 1\n version = \"2.0.0\"\n fingerprint = fingerprint({})\n supports \"debian\" { id = \"debian\" }\n}\n" +
			"variable \"word\" { type = string }\nvariable \"secret\" {\n type = string\n sensitive = true\n}\n" +
			"write_file_if_changed \"a\" {\n path = \"/etc/base/a\"\n content = \"${var.word} ${file(\"files/greeting\")}\"\n}\n" +
			"write_file_if_changed \"b\" {\n path = \"/etc/base/b\"\n source = \"files/asset\"\n}\n" +
			"write_file_if_changed \"s\" {\n path = \"/etc/base/s\"\n content = \"s=${var.secret}\"\n}\n")},
		"base/files/greeting": {Data: []byte("there")},
		"base/files/asset":    {Data: []byte{0, 1, 2, 0xff}},
	}
	g := given{vars: []string{"token=secret"}, open: func(r *rig) interpreter.Request {
		return r.load(eval.Tree("test:", tree, "top"), eval.StandardLoader{})
	}}
	r := newRig(t, memory.Options{})
	r.planned(g)
	r.want("/etc/base/a", "hello there")
	r.quiet(g)
	for _, name := range []string{"a", "b", "s"} {
		r.remove("/etc/base/" + name)
	}
	_, err := r.run(ensure, nothing)
	if _, needs := errors.AsType[*walk.NeedsInputError](err); !needs {
		t.Fatalf("error %v", err)
	}
	r.want("/etc/base/a", "hello there")
	r.want("/etc/base/b", "\x00\x01\x02\xff")
	r.must(ensure, given{vars: []string{"token=secret"}})
	r.want("/etc/base/s", "s=secret")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestStoredRecipeDamaged: a stored file that is not what was stored is never
// used.
func TestStoredRecipeDamaged(t *testing.T) {
	const body = "variable \"token\" {\n type = string\n sensitive = true\n}\nwrite_file_if_changed \"t\" {\n path = \"/etc/t\"\n content = \"t=${var.token}\"\n}\n"
	r := newRig(t, memory.Options{})
	r.must(apply, a(body, "token=x"))
	for name := range r.Snapshot() {
		if strings.HasPrefix(name, record.StateDir) && strings.HasSuffix(name, ".blob") {
			r.put(name, "recipe \"other\" {}")
		}
	}
	r.remove("/etc/t")
	if _, err := r.run(ensure, given{vars: []string{"token=x"}}); err == nil || !strings.Contains(err.Error(), "not those that were stored") {
		t.Errorf("error %v", err)
	}
	r.want("/etc/t", "(absent)")
}

// TestOutputs: what a recipe puts out, without what is sensitive.
func TestOutputs(t *testing.T) {
	r := newRig(t, memory.Options{})
	out := r.must(apply, a(one+"output \"where\" { value = write_file_if_changed.x.path }\n"))
	docs := interpreter.OutputDocuments(out.Outputs)
	if len(docs) != 1 || docs[0].Name != "where" || string(docs[0].Value) != `"/etc/x"` {
		t.Errorf("outputs %+v", docs)
	}
}

// TestSweepFails: old states that cannot be removed fail nothing.
func TestSweepFails(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.must(apply, a(two))
	r.put(record.StateDir+"/x.json", "{}")
	r.Plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Name == record.StateDir+"/x.json" })
	out := r.must(apply, a(three))
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Old states not removed" {
		t.Errorf("warnings %v", out.Warnings)
	}
	r.must(apply, a(two))
	r.want(record.StateDir+"/x.json", "(absent)")
}
