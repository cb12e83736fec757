package shadow_test

import (
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

func TestFileStates(t *testing.T) {
	install := "[Service]\nExecStart=/bin/a\n[Install]\nWantedBy=multi-user.target\n"
	plain := "[Service]\nExecStart=/bin/a\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // LoadState UnitFileState FragmentPath
	}{
		"disabled":                    {map[string]string{lib + "x.service": install}, "loaded disabled " + lib + "x.service"},
		"static":                      {map[string]string{lib + "x.service": plain}, "loaded static " + lib + "x.service"},
		"indirect":                    {map[string]string{lib + "x.service": plain + "[Install]\nAlso=y.socket\n"}, "loaded indirect " + lib + "x.service"},
		"etc is stronger":             {map[string]string{lib + "x.service": plain, etc + "x.service": install}, "loaded disabled " + etc + "x.service"},
		"enabled":                     {map[string]string{lib + "x.service": install, etc + "y.target.requires/x.service": "-> " + lib + "x.service"}, "loaded enabled " + lib + "x.service"},
		"enabled until the next boot": {map[string]string{lib + "x.service": install, "/run/systemd/system/y.target.wants/x.service": "-> " + lib + "x.service"}, "loaded enabled-runtime " + lib + "x.service"},
		"enabled by an alias":         {map[string]string{lib + "x.service": install, etc + "y.service": "-> " + lib + "x.service"}, "loaded enabled " + lib + "x.service"},
		"masked":                      {map[string]string{lib + "x.service": install, etc + "x.service": "-> /dev/null"}, "masked masked " + etc + "x.service"},
		"masked by an empty file":     {map[string]string{etc + "x.service": ""}, "masked masked " + etc + "x.service"},
		"masked until the next boot":  {map[string]string{lib + "x.service": install, "/run/systemd/system/x.service": "-> /dev/null"}, "masked masked-runtime /run/systemd/system/x.service"},
		"generated":                   {map[string]string{"/run/systemd/generator/x.service": install}, "loaded generated /run/systemd/generator/x.service"},
		"transient":                   {map[string]string{"/run/systemd/transient/x.service": plain}, "loaded transient /run/systemd/transient/x.service"},
		"linked":                      {map[string]string{"/opt/x.service": install, etc + "x.service": "-> /opt/x.service"}, "loaded linked " + etc + "x.service"},
		"a dangling link":             {map[string]string{etc + "x.service": "-> /opt/x.service"}, "not-found  "},
		"without a command":           {map[string]string{etc + "x.service": "[Service]\nType=simple\n"}, "bad-setting static " + etc + "x.service"},
		"only with a stop command":    {map[string]string{etc + "x.service": "[Service]\nType=exec\nExecStop=/bin/a\n"}, "bad-setting static " + etc + "x.service"},
		"nothing":                     {nil, "not-found  "},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := over(t, &still{}, nil)
			for file, content := range tt.files {
				if target, ok := strings.CutPrefix(content, "-> "); ok {
					must(t, h.Files.MkdirAll(file[:strings.LastIndexByte(file, '/')], 0o755))
					must(t, h.Files.SymlinkIfPossible(target, file))
					continue
				}
				write(t, h.Files, file, content)
			}
			u := unit(t, h, "x.service")
			if got := strings.Join([]string{u.LoadState, u.UnitFileState, u.FragmentPath}, " "); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
			if (u.LoadState == "bad-setting") != (u.LoadError != "") {
				t.Errorf("load error %q", u.LoadError)
			}
		})
	}
}

func TestUnitText(t *testing.T) {
	for name, tt := range map[string]struct {
		unit, text, kind, sub string
	}{
		"simple":   {"x.service", "[Service]\nExecStart=/bin/a\n", "simple", "running"},
		"bus":      {"x.service", "[Service]\nBusName=x\nExecStart=/bin/a\n", "dbus", "running"},
		"oneshot":  {"x.service", "# Type=\n[Service]\n;x=y\nExecStop=/bin/a\nRemainAfterExit=on\n", "oneshot", "exited"},
		"joined":   {"x.service", "[Service]\nExecStart=/bin/a \\\n Type=oneshot\n", "simple", "running"},
		"false":    {"x.service", "[Service]\nType=oneshot\nExecStart=/bin/a\nRemainAfterExit=no\n", "oneshot", "dead"},
		"socket":   {"x.socket", "[Socket]\nListenStream=1\n", "", "listening"},
		"timer":    {"x.timer", "[Timer]\nOnBootSec=1\n", "", "waiting"},
		"mount":    {"x.mount", "[Mount]\nWhat=x\n", "", "mounted"},
		"target":   {"x.target", "[Unit]\nAfter=a b\nAfter=\n", "", "active"},
		"instance": {"x@a.service", "[Service]\nExecStart=/bin/a\n", "simple", "running"},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := over(t, &still{}, nil)
			file := strings.ReplaceAll(tt.unit, "@a.", "@.")
			write(t, h.Files, etc+file, tt.text)
			run(t, h, host.JobStart, tt.unit)
			if u := unit(t, h, tt.unit); u.Type != tt.kind || u.SubState != tt.sub || u.FragmentPath != etc+file {
				t.Errorf("it is %+v", u)
			}
		})
	}
}

func TestDropInsInOrder(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	write(t, h.Files, lib+"a-b@.service", "[Service]\nExecStart=/bin/a\n")
	for _, file := range []string{
		lib + "a-b@x.service.d/30.conf", etc + "a-b@.service.d/20.conf", etc + "a-.service.d/40.conf",
		etc + "service.d/10.conf", lib + "a-b@.service.d/20.conf", etc + "a-b@x.service.d/readme",
	} {
		write(t, h.Files, file, "[Service]\nType=exec\n")
	}
	must(t, h.Files.SymlinkIfPossible("/dev/null", etc+"service.d/15.conf"))
	u := unit(t, h, "a-b@x.service")
	want := []string{etc + "service.d/10.conf", etc + "service.d/15.conf", etc + "a-b@.service.d/20.conf", lib + "a-b@x.service.d/30.conf", etc + "a-.service.d/40.conf"}
	if !slices.Equal(u.DropInPaths, want) || u.Type != "exec" {
		t.Errorf("type %q, drop-ins\n%s", u.Type, strings.Join(u.DropInPaths, "\n"))
	}
}

func TestAliases(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	f := h.Files
	write(t, f, lib+"real@.service", "[Service]\nExecStart=/bin/a\n")
	must(t, f.MkdirAll(etc, 0o755))
	must(t, f.SymlinkIfPossible(lib+"real@.service", etc+"alias@.service"))
	if u := unit(t, h, "alias@x.service"); u.Name != "real@x.service" || u.FragmentPath != lib+"real@.service" {
		t.Errorf("the alias is %+v", u)
	}
	run(t, h, host.JobStart, "alias@x.service")
	if u := unit(t, h, "real@x.service"); u.ActiveState != "active" {
		t.Errorf("started by its alias it is %s", u.ActiveState)
	}
	must(t, f.SymlinkIfPossible("b.service", etc+"a.service"))
	must(t, f.SymlinkIfPossible("a.service", etc+"b.service"))
	if _, err := h.Units.Unit(t.Context(), "a.service"); err == nil {
		t.Error("a circle of aliases is a unit")
	}
}
