package interpreter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// belowPrefix puts files below the prefix, and one beside that names it.
const belowPrefix = `
write_file_if_changed "tool" {
  path    = "${host.prefix}/bin/tool"
  mode    = "0755"
  content = "tool of ${host.prefix}"
}
write_file_if_changed "data" {
  path    = "${host.prefix}/share/site/data"
  content = "data"
}
write_file_if_changed "beside" {
  path    = "/etc/site/tool"
  content = host.prefix
}
symlink "latest" {
  path   = "${host.prefix}/bin/latest"
  target = "tool"
}
`

// withPrefix gives a prefix on the command line.
func withPrefix(prefix string) func(*interpreter.Request) {
	return func(req *interpreter.Request) { req.Prefix = prefix }
}

// TestR141CleanHostSeesOtherPrefixes: files of an installation below another
// prefix are in the way, also when nothing but them is left of it.
func TestR141CleanHostSeesOtherPrefixes(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(belowPrefix)) // the default
	r.remove(record.Dir)
	r.remove("/etc/site/tool")
	before := r.Standing()
	r.tune = withPrefix("/opt/site")
	e := fails[*interpreter.ForeignError](r, apply, a(belowPrefix), "left by an installation without a record", "hostler reset")
	var names []string
	for _, f := range e.Things {
		names = append(names, string(f.Thing))
	}
	if want := []string{"path:/usr/local/bin/tool", "path:/usr/local/share/site/data", "path:/usr/local/bin/latest"}; !slices.Equal(names, want) {
		t.Errorf("in the way %q", names)
	}
	r.same(before)

	// What is only called the same is somebody else's.
	r.put("/usr/local/bin/tool", "another tool")
	r.put("/usr/local/share/site/data", "other data")
	r.remove("/usr/local/bin/latest")
	r.must(apply, a(belowPrefix))
	r.must(reset, nothing)
	r.want("/usr/local/bin/tool", "another tool")
	r.want("/usr/local/share/site/data", "other data")
}

// TestR140ResetSweepsOtherPrefixes: a reset takes what the same recipe has left
// below the default and the configured prefix, and nobody else's files.
func TestR140ResetSweepsOtherPrefixes(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.tune = withPrefix("/opt/site")
	r.must(apply, a(belowPrefix))
	r.put("/usr/local/bin/tool", "tool of /usr/local")
	r.put("/usr/local/bin/mine", "mine")
	r.put("/usr/local/share/site/data", "somebody's data")
	r.put("/srv/site/share/site/data", "data")
	r.put("/srv/other", "keeps /srv")
	r.tune = withPrefix("/srv/site")
	r.must(reset, nothing)
	diff := memory.Difference(r.Before, r.Standing())
	slices.Sort(diff)
	want := []string{"+/srv", "+/srv/other", "+/usr/local/bin/mine", "+/usr/local/share", "+/usr/local/share/site", "+/usr/local/share/site/data"}
	if !slices.Equal(diff, want) {
		t.Errorf("left %q", diff)
	}
}

// TestR140SalvageSweepsPrefixes: without the record, with and without stored
// states, what lies below any known prefix and is as the recipe would have
// made it goes; what is only called the same is left, and is no residue.
func TestR140SalvageSweepsPrefixes(t *testing.T) {
	recipe := given{recipe: files{"recipe.hcl": strings.Replace(text(belowPrefix), `{ id = "debian" }`, "{\n id = \"debian\"\n default_prefix = \"/opt/site\"\n}", 1)}}
	for name, lose := range map[string][]string{"from states": {record.File}, "from the recipe": {record.File, record.StateDir}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.tune = withPrefix("/usr/local")
			r.must(apply, recipe)
			for _, name := range lose {
				r.remove(name)
			}
			r.put("/opt/site/bin/tool", "tool of /opt/site")
			r.put("/opt/site/share/site/data", "somebody's data")
			r.must(reset, recipe)
			want := []string{"+/opt/site", "+/opt/site/share", "+/opt/site/share/site", "+/opt/site/share/site/data", "+/usr/local/share"} // systems bring the last
			if diff := memory.Difference(r.Before, r.Standing()); !slices.Equal(diff, want) {
				t.Errorf("left %q", diff)
			}
		})
	}
}

// TestR175InstallDirectory: the directories that the installation will write to
// are probed before anything is changed, by what stands there now.
func TestR175InstallDirectory(t *testing.T) {
	readOnly := memory.Options{Mounts: []memory.Mount{{Point: "/usr/local", ReadOnly: true}, {Point: "/data", NoExec: true}}}
	for name, c := range map[string]struct {
		prefix, body string
		want         []string // "" for passing
	}{
		"R175 read-only":             {"", belowPrefix, []string{"write_file_if_changed.tool: /usr/local/bin cannot be written: /usr/local is mounted read-only", "--prefix", "/usr/local/share/site"}},
		"R176 absent, on writable":   {"/opt/site", belowPrefix, nil},
		"noexec":                     {"/data/site", belowPrefix, []string{"nothing can be run from /data/site/bin: /data is mounted noexec"}},
		"noexec, and no program":     {"/data/site", "write_file_if_changed \"d\" {\n path = \"${host.prefix}/share/d\"\n content = \"d\"\n}\n", nil},
		"a file above":               {"/etc/os-release", belowPrefix, []string{"/etc/os-release is not a directory"}},
		"the prefix is not used":     {"", "write_file_if_changed \"d\" {\n path = \"/etc/d\"\n content = \"d\"\n}\n", nil},
		"a step mounts there before": {"/data/site", "mount \"m\" {\n what = \"tmpfs\"\n where = \"/data/site\"\n type = \"tmpfs\"\n}\n" + belowPrefix, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, readOnly)
			r.tune = withPrefix(c.prefix)
			if c.want == nil {
				r.must(apply, a(c.body)) // R179
				return
			}
			e := fails[*interpreter.UnmetError](r, apply, a(c.body), c.want...)
			fails[*interpreter.UnmetError](r, plan, a(c.body), c.want...)
			for _, f := range e.Findings {
				if u, ok := errors.AsType[*block.Unmet](f.Err); !ok || u.Advice == "" || f.Placed == nil {
					t.Errorf("finding %+v", f)
				}
			}
			found, err := r.Interpreter().Preflight(t.Context(), r.request(a(c.body)))
			if _, unmet := errors.AsType[*interpreter.UnmetError](err); !unmet || len(found) != len(e.Findings) {
				t.Errorf("preflight: %+v, %v", found, err)
			}
			r.same(r.Before)
		})
	}
}

// What stands already is not written, wherever it is.
func TestInstalledOnWhatBecameReadOnly(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(belowPrefix))
	r.remove(record.Dir)
	if err := r.Memory.Mount(memory.Mount{Point: "/usr/local/lib", ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	r.must(apply, a(belowPrefix))
	if !strings.Contains(r.read(record.File), string(thing.Key("path:/usr/local/bin/tool"))) {
		t.Error("it is not claimed")
	}
}
