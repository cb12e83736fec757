package operate_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/operate"
	"hostler/interpreter/record"
	"hostler/interpreter/report"
)

// service is a unit, its configuration, and what restarts it.
const service = `stage "host" {
  write_file_if_changed "conf" {
    description = "what the demo reads"
    path        = "/etc/demo/demo.conf"
    content     = "LEVEL"
  }
  write_file_if_changed "each" {
    for_each = ["a", "b"]
    path     = "/etc/demo/${each.key}.conf"
    content  = "x"
  }
  systemd_unit "demo.service" {
    content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
    enable  = true
    state   = "started"
  }
  restart_on_change "demo.service" {
    watch = [write_file_if_changed.conf, write_file_if_changed.each, systemd_unit["demo.service"]]
  }
}
`

func demo(t *testing.T) *rig {
	r := newRig(t, memory.Options{})
	for _, level := range []string{"1", "2"} {
		if _, err := r.apply(strings.Replace(service, "LEVEL", level, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *rig) ask(asked string) operate.Why {
	r.Helper()
	why, err := operate.Ask(context.Background(), r.interpreter("why"), asked)
	if err != nil {
		r.Fatal(err)
	}
	return why
}

func TestWhyPath(t *testing.T) {
	r := demo(t)
	why := r.ask("/etc/demo/demo.conf")
	if !why.Owned || len(why.Owners) != 1 || why.Asked != "path:/etc/demo/demo.conf" || why.Recipe != "site" || why.InstallationID == "" {
		t.Fatalf("%+v", why)
	}
	o := why.Owners[0]
	line := strings.Count(header, "\n") + 2
	changes := o.Changes
	o.Changes = nil
	if d := cmp.Diff(operate.Owner{
		Thing: "path:/etc/demo/demo.conf", Step: "write_file_if_changed.conf", Type: "write_file_if_changed", Stage: "host",
		Description: "what the demo reads", Filename: "test:recipe.hcl", Line: line, Origin: "absent",
	}, o); d != "" {
		t.Error(d)
	}
	if len(changes) != 2 || changes[0].Run != 2 || changes[0].Action != "update" || changes[0].Command != "apply" || changes[1].Action != "create" || changes[1].Run != 1 {
		t.Errorf("%+v", changes)
	}
	if each := r.ask("path:/etc/demo/b.conf").Owners; len(each) != 1 || each[0].Line != line+5 || each[0].Step != `write_file_if_changed.each["b"]` || len(each[0].Changes) != 1 {
		t.Errorf("%+v", each)
	}
	if d := cmp.Diff(why, r.ask("path:/etc/demo//demo.conf/")); d != "" {
		t.Error(d)
	}
	if dir := r.ask("path:/etc/demo").Owners; len(dir) != 1 || dir[0].Step != "" || dir[0].Thing != "dir:/etc/demo" {
		t.Errorf("%+v", dir)
	}
	for asked, above := range map[string]string{"path:/etc/demo/other/file": "dir:/etc/demo", "path:/srv/x": "", "sysctl:net.ipv4.ip_forward": ""} {
		if why := r.ask(asked); why.Owned || why.Above != above {
			t.Errorf("%s: %+v", asked, why)
		}
	}
}

func TestWhyUnit(t *testing.T) {
	r := demo(t)
	why := r.ask("demo.service")
	for _, other := range []string{"unit:demo", "unit:demo.service"} {
		if d := cmp.Diff(why, r.ask(other)); d != "" {
			t.Errorf("%s:\n%s", other, d)
		}
	}
	var things []string
	for _, o := range why.Owners {
		things = append(things, o.Thing)
		if o.Step != `systemd_unit["demo.service"]` || o.Line == 0 || len(o.Changes) != 1 {
			t.Errorf("%+v", o)
		}
	}
	if d := cmp.Diff([]string{"path:/etc/systemd/system/demo.service", "unit-active:demo.service", "unit-enabled:demo.service"}, things); d != "" {
		t.Error(d)
	}
	if why.Unit == nil || why.Unit.ActiveState != "active" {
		t.Errorf("%+v", why.Unit)
	}
	for asked, thing := range map[string]string{
		"unit-active:demo.service": "unit-active:demo.service", "unit-enabled:demo.service": "unit-enabled:demo.service",
		"/etc/systemd/system/demo.service":                            "path:/etc/systemd/system/demo.service",
		"/etc/systemd/system/multi-user.target.wants/demo.service":    "unit-enabled:demo.service",
		"/etc/systemd/system/multi-user.target.wants/another.service": "", "/etc/demo.service": "",
	} {
		why := r.ask(asked)
		if owned := thing != ""; why.Owned != owned || owned && (len(why.Owners) != 1 || why.Owners[0].Thing != thing) {
			t.Errorf("%s: %+v", asked, why)
		}
	}
	if len(why.Restarts) != 1 || why.Restarts[0].Step != `restart_on_change["demo.service"]` || len(why.Restarts[0].Watch) != 4 || len(why.Restarts[0].Changes) != 1 {
		t.Fatalf("%+v", why.Restarts)
	}
	if c := why.Restarts[0].Changes[0]; c.Run != 2 || c.Action != "restart" || len(c.Because) != 1 || c.Because[0] != "write_file_if_changed.conf" {
		t.Errorf("%+v", c)
	}
	var out strings.Builder
	operate.WriteWhy(&out, why)
	for _, part := range []string{
		"unit:demo.service belongs to recipe site 1.0.0.\n", "It is active (", "owned by     systemd_unit[\"demo.service\"]\n", "written      test:recipe.hcl:",
		"restart_on_change[\"demo.service\"] restarts it when one of these changes: write_file_if_changed.conf, ",
		", run 2 (apply): restart: ", "because of write_file_if_changed.conf\n", "before       it was not there\n",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not in\n%s", part, out.String())
		}
	}
	out.Reset()
	operate.WriteWhy(&out, r.ask("path:/etc/demo/nothing"))
	if out.String() != "path:/etc/demo/nothing is not owned by recipe site 1.0.0.\nAbove it, dir:/etc/demo is.\n" {
		t.Error(out.String())
	}
}

// TestWhyDrift: what was put right is told as such.
func TestWhyDrift(t *testing.T) {
	r := demo(t)
	if err := host.Replace(r.Host().Files, "/etc/demo/demo.conf", host.Content{Bytes: []byte("edited"), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	why := r.ask("/etc/demo/demo.conf")
	if c := why.Owners[0].Changes[0]; !c.Drift || c.Run != 3 || c.Command != "ensure" {
		t.Errorf("%+v", c)
	}
}

func TestWhyFaults(t *testing.T) {
	r := newRig(t, memory.Options{})
	if _, err := operate.Ask(context.Background(), r.interpreter("why"), "/etc/x"); !errors.Is(err, record.ErrAbsent) {
		t.Error(err)
	}
	if _, err := operate.Ask(context.Background(), r.interpreter("why"), "nonsense"); err == nil || !strings.Contains(err.Error(), "write path:/etc/motd") {
		t.Error(err)
	}
}

// untar are the files of a support bundle.
func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || h.Mode != 0o600 {
			t.Fatal(err, h)
		}
		files[strings.TrimPrefix(h.Name, "hostler-support/")] = string(text)
	}
}

func support(t *testing.T, r *rig) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := operate.Support(context.Background(), r.interpreter("support"), "0.1.0", &out); err != nil {
		t.Fatal(err)
	}
	return untar(t, out.Bytes())
}

func TestSupport(t *testing.T) {
	r := newRig(t, memory.Options{Executables: []string{"journalctl"}, Programs: map[string]memory.Program{
		"journalctl": func(in memory.Invocation) host.CommandResult {
			return host.CommandResult{Stdout: []byte("started\nAuthorization: Bearer abcdefghijklmnop\n")}
		},
	}})
	if _, err := r.apply(strings.Replace(service, "LEVEL", strings.Repeat("confidential ", 4), 1)); err != nil {
		t.Fatal(err)
	}
	files := support(t, r)
	for _, name := range []string{"README.txt", "status.json", "facts.json", "plan.json", "record.json", "history/000001.json", "machines.json", "units.json", "journal/demo.service.log", "journal/hostler.log"} {
		if files[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if files["missing.txt"] != "" || files["machines.json"] != "[]\n" {
		t.Errorf("%s, machines %s", files["missing.txt"], files["machines.json"])
	}
	for name, text := range files {
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON:\n%s", name, text)
		}
		if strings.Contains(text, "confidential") || strings.Contains(text, "abcdefghijklmnop") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if !strings.Contains(files["record.json"], `"/etc/demo/demo.conf"`) || !strings.Contains(files["units.json"], `"demo.service"`) {
		t.Error(files["record.json"])
	}
	var plan report.Plan
	if err := json.Unmarshal([]byte(files["plan.json"]), &plan); err != nil || len(plan.Actions) == 0 || plan.Phase != "complete" {
		t.Errorf("%v, %+v", err, plan)
	}
}

// TestSupportOfLittle: where nothing is installed and nothing runs, what can be
// had is there, and what cannot is named.
func TestSupportOfLittle(t *testing.T) {
	r := newRig(t, memory.Options{Offline: true})
	files := support(t, r)
	if files["status.json"] == "" || files["facts.json"] == "" || files["record.json"] != "" {
		t.Errorf("%v", files)
	}
	for _, part := range []string{"plan: nothing is installed on this host\n", "record: ", "units: nothing is installed", "journal of hostler: no running service manager\n", "machines: "} {
		if !strings.Contains(files["missing.txt"], part) {
			t.Errorf("%q is not in\n%s", part, files["missing.txt"])
		}
	}
	if err := operate.Support(context.Background(), r.interpreter("support"), "0.1.0", broken{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestRedact(t *testing.T) {
	const key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"
	for in, want := range map[string]string{
		"a " + key + " b":                                   "a (redacted private key) b",
		"-----BEGIN PRIVATE KEY-----\nabc":                  "(redacted private key)",
		"join with abcdef.0123456789abcdef":                 "join with (redacted)",
		"https://user:pass1234@host/x":                      "https://user:(redacted)@host/x",
		`{"password": "hunter22", "a": "b"}`:                `{"password": "(redacted)", "a": "b"}`,
		"eyJhbGciOiJI.eyJzdWIiOiIx.c2ln ok":                 "(redacted) ok",
		"Authorization: bearer xyzxyzxyz":                   "Authorization: bearer (redacted)",
		"?sv=1&sig=abcd%2F&se=2":                            "?sv=1&sig=(redacted)&se=2",
		`"cause": "{\"password\": \"hunter22\", \"a\": 1}"`: `"cause": "{\"password\": \"(redacted)\", \"a\": 1}"`,
		`"c": "{\\\"token\\\":\\\"hunter22\\\"}"`:           `"c": "{\\\"token\\\":\\\"(redacted)\"}"`, // the inner one is cut, the outer one stays JSON
		`passphrase = "two words"; secret: 'it is so'`:      `passphrase = "(redacted)"; secret: '(redacted)'`,
		`password="it's long" next`:                         `password="(redacted)" next`,
		`password=pass\word and more`:                       `password=(redacted) and more`,
		`{"secret": ""}`:                                    `{"secret": ""}`,
		`"token_file": "/etc/token", v1.34.1`:               `"token_file": "/etc/token", v1.34.1`,
		"sha256:0123456789abcdef0123456789ab":               "sha256:0123456789abcdef0123456789ab",
	} {
		if got := operate.Redact(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
