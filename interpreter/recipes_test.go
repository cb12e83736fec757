package interpreter_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host/memory"
	"hostler/recipes"
)

// scenarios are the recipes that the laws are held against.
func scenarios(t testing.TB) []scenario {
	all := []scenario{small(), middle(), interpreted(), richScenario(t), slotsScenario(t)}
	return append(all, shipped(t)...)
}

func small() scenario {
	const v1 = `
write_file_if_changed "x" {
  path             = "/etc/x"
  content          = "one\n"
  replaces_foreign = true
}
write_file_if_changed "y" {
  path    = "/etc/y.d/y"
  content = "one\n"
}
`
	v2 := a(strings.ReplaceAll(v1, "one", "two"))
	return scenario{
		name: "small", v1: a(v1), v2: &v2, crash: 1, power: 1, errno: 2,
		opts: func(testing.TB) memory.Options {
			return memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs", Mode: 0o640, GID: 4, Xattrs: map[string]string{"user.a": "b"}}}}
		},
	}
}

// interpreted installs the interpreter itself.
func interpreted() scenario {
	v2 := a(strings.ReplaceAll(withInterpreter, `"hostler" {}`, "\"hostler\" {\n  boot_inputs = [\"/etc/hostler/inputs.hcl\"]\n}"))
	return scenario{
		name: "interpreter", v1: a(withInterpreter), v2: &v2, crash: 3, power: 4, errno: 12,
		opts: func(testing.TB) memory.Options { return memory.Options{} },
	}
}

func middle() scenario {
	const v1 = `
write_file_if_changed "conf" {
  path    = "/etc/a/conf"
  content = "one\n"
}
directory "d" { path = "/var/lib/a" }
symlink "l" {
  path   = "/etc/a/link"
  target = "conf"
}
systemd_unit "a.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=V=one\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
}
systemd_unit "theirs.service" {
  drop_in "10-a.conf" { content = "[Service]\nNice=1\n" }
  state = "started"
}
restart_on_change "a.service" { watch = [write_file_if_changed.conf, systemd_unit["a.service"]] }
restart_on_change "theirs.service" { watch = [systemd_unit["theirs.service"]] }
reset_step "r" {
  remove_path {
    path      = "/var/lib/left"
    recursive = true
  }
}
`
	v2 := a(strings.NewReplacer("one", "two", "symlink \"l\" {\n  path   = \"/etc/a/link\"\n  target = \"conf\"\n}\n", "", "Nice=1", "Nice=2").Replace(v1))
	return scenario{
		name: "middle", v1: a(v1), v2: &v2, crash: 2, power: 7, errno: 17,
		opts: func(testing.TB) memory.Options {
			return memory.Options{Units: []memory.Unit{{Name: "theirs.service", Enabled: true, Running: true}}}
		},
	}
}

func richScenario(t testing.TB) scenario {
	v2 := given{recipe: recipeFile(t, "rich.hcl",
		`default = "info"`, `default = "debug"`, `["one", "two"]`, `["two", "three"]`, `absent "old"`, `directory "old"`,
		`"/etc/cron.d/old"`, `"/etc/cron.d/new"`, `[Service]\nNice=5`, `[Service]\nNice=6`,
	), vars: []string{"token=other"}}
	return scenario{
		name: "rich", v1: given{recipe: recipeFile(t, "rich.hcl"), vars: []string{"token=secret"}}, v2: &v2, opts: rich, crash: 37, power: 89, errno: 307,
	}
}

func slotsScenario(t testing.TB) scenario {
	moved := slots(t, "release=2", "image=/srv/two.tar")
	return scenario{name: "slots", v1: slots(t), moved: &moved, opts: nodeHost, crash: 29, power: 83, errno: 311}
}

// shipped are the recipes under recipes and examples. A shared one runs in those
// that use it.
func shipped(t testing.TB) (all []scenario) {
	for _, top := range []string{"../recipes", "../examples"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "previous" {
				return fs.SkipDir
			}
			if err == nil && d.Name() == eval.MainFile && !strings.HasPrefix(name, "../recipes/shared/") {
				all = append(all, shippedAs(t, filepath.Dir(name)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inputs are the values for the variables of the recipes in the tree, by
// directory; a new recipe needs a line here.
var inputs = map[string][]string{
	"../recipes/debian/12/nspawn-worker": {"rootfs_image=/srv/one.tar", "nameservers=[\"192.0.2.53\"]"},
	"../examples/build-host":             {"image=/srv/one.tar"},
	"../examples/metrics-site":           {"site=west-2", "token=secret"},
	"../examples/overlay-site":           {exampleToken, exampleImage, "pool=build"},
	"../examples/air-gapped":             {exampleToken, exampleImage, workerDigests()},
	"../examples/gpu-site":               {exampleToken, exampleImage, "gpu=h100"},
	"../examples/two-slots":              {exampleToken, exampleImage},
}

const (
	exampleToken = "bootstrap_token=abcdef.0123456789abcdef"
	exampleImage = "rootfs_image=/srv/node.tar"
)

func shippedAs(t testing.TB, dir string) scenario {
	if filepath.Base(dir) == "kubernetes-worker" {
		return workerScenario(dir)
	}
	vars, ok := inputs[dir]
	if !ok {
		t.Errorf("%s: there are no inputs for it in laws_test.go", dir)
	}
	s := scenario{
		name: filepath.Base(dir), opts: kitchen, crash: 61, power: 167, errno: 613,
		v1: given{vars: vars, open: func(r *rig) interpreter.Request {
			src, err := eval.Open(dir)
			r.ok(err)
			return r.load(src, eval.StandardLoader{Shipped: recipes.Open})
		}},
	}
	if slices.Contains(vars, exampleImage) { // a worker in it, whose runs go wrong elsewhere
		s.opts, s.crash = workerHost(dir), 0
	}
	return s
}

// kitchen is a Debian 12 with everything that the recipes in the tree ask for.
func kitchen(t testing.TB) memory.Options {
	return memory.Options{
		Executables: []string{"apt-get", "/usr/sbin/nft", "machinectl", "journalctl"},
		Files: map[string]memory.File{
			"/srv/one.tar":                        {Content: image(t, nil)},
			"/etc/motd":                           {Content: "welcome\n"},
			"/etc/sysctl.d/10-theirs.conf":        {Content: "kernel.panic = 1\n"},
			"/etc/systemd/journald.conf":          {Content: "[Journal]\n"},
			"/lib/modules/6.1.0/modules.builtin":  {Content: ""},
			"/etc/apt/apt.conf.d/20auto-upgrades": {Content: "x \"1\";\n"},
		},
		Units: []memory.Unit{
			{Name: "systemd-journald.service", Running: true},
			{Name: "nftables.service"},
		},
		Kernel: memory.Kernel{Sysctl: map[string]string{
			"net.ipv4.ip_forward": "0", "vm.swappiness": "60", "vm.overcommit_memory": "0", "kernel.panic": "1", "kernel.panic_on_oops": "0", "kernel.keys.root_maxkeys": "7",
		}},
	}
}
