package requirecapability_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	requirecapability "hostler/builtins/blocks/require_capability"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func status(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

const kube1, kube2 = "/var/lib/machines/kube1", "/var/lib/machines/kube2"

func options() memory.Options {
	return memory.Options{
		Executables: []string{"nft", "/opt/tool"},
		Files: map[string]memory.File{
			"/srv/file": {Content: "x"}, "/srv/lost": {Link: "/nowhere"},
			"/srv/named/index.json":  {Content: `{"manifests": [{"annotations": {"org.opencontainers.image.ref.name": "registry.example.com/worker:v1"}}]}`},
			"/srv/layout.tar":        {Content: "a tar"},
			"/srv/layout/index.json": {Content: `{"manifests": [{"annotations": {"org.opencontainers.image.ref.name": "v1"}}]}`},
			"/srv/empty/index.json":  {Content: `{"manifests": []}`}, "/srv/broken/index.json": {Content: "{"},
			"/mnt/noexec/x": {}, "/mnt/small/x": {},
		},
		ReadOnly: []string{"/usr"},
		Mounts:   []memory.Mount{{Point: "/mnt/noexec", NoExec: true}, {Point: "/mnt/small", Size: 1 << 20}},
		Units:    []memory.Unit{{Name: "docker.service", Running: true}, {Name: "idle.service"}},
		Kernel:   memory.Kernel{Release: "6.1.0-18-amd64", Cgroup: 1, Modules: map[string]bool{"wireguard": false}, Swaps: []string{"/swapfile"}},
		Network: memory.Network{
			Listeners: []host.ListenerState{
				{Address: "0.0.0.0:10250", PID: 7, Root: kube2, Exe: kube2 + "/usr/bin/kubelet"},
				{Address: "127.0.0.1:80", PID: 8, Root: "/", Exe: "/usr/sbin/httpd"},
				{Address: "[::]:443", PID: 9, Root: kube1, Exe: "/usr/sbin/httpd"},
				{Address: "[::1]:444", PID: 10, Root: "", Exe: ""},
				{Address: "0.0.0.0:445"},
			},
			HTTP: map[string]http.Handler{
				"well.example.com": status(200), "locked.example.com": status(403), "ill.example.com": status(503), "gone.example.com": status(404),
				"get.example.com": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodHead {
						w.WriteHeader(http.StatusMethodNotAllowed)
					}
				}),
				"registry.example.com": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/v2/worker/manifests/1.0" {
						w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
						w.Header().Set("Content-Length", "2")
						w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("a", 64))
					} else if r.URL.Path != "/v2/" {
						w.WriteHeader(http.StatusNotFound)
					}
				}),
			},
		},
	}
}

// probes are bodies, with what must be said where the fact does not hold; ""
// means that it holds.
var probes = map[string]string{
	`executable = "nft"`:                                          "",
	`executable = "/opt/tool"`:                                    "",
	`executable = "curl"`:                                         "missing on this host: curl",
	`executable = "/srv/file"`:                                    "missing on this host: /srv/file",
	`executables = ["nft", "sh"]`:                                 "",
	`executables = ["a", "nft", "b"]`:                             "missing on this host: a, b",
	`kernel_module = "wireguard"`:                                 "",
	`kernel_module = "zfs"`:                                       "the kernel has no module zfs",
	`kernel_min = "6.1"`:                                          "",
	`kernel_min = "5.15.7"`:                                       "",
	`kernel_min = "6.1.0.1"`:                                      "the kernel is 6.1.0-18-amd64, older than 6.1.0.1",
	`kernel_min = "6.10"`:                                         "older than 6.10",
	`systemd_min = 252`:                                           "",
	`systemd_min = 255`:                                           "systemd is version 252, older than 255",
	`cgroup = "v2"`:                                               "the host uses cgroup v1",
	`writable = "/srv"`:                                           "",
	`writable = "/opt/not/there/yet"`:                             "",
	`writable = "/usr/local/hostler"`:                             "/usr/local/hostler cannot be written: /usr is mounted read-only",
	`writable = "/srv/file/x"`:                                    "/srv/file is not a directory",
	`writable = "/srv/lost/x"`:                                    "/srv/lost is a link that leads nowhere",
	`executable_from = "/srv/new"`:                                "",
	`executable_from = "/mnt/noexec/x"`:                           "nothing can be run from /mnt/noexec/x: /mnt/noexec is mounted noexec",
	"free_space {\npath = \"/mnt/small\"\nbytes = 1000\n}":        "",
	"free_space {\npath = \"/mnt/small/a/b\"\nbytes = 2000000\n}": "2000000 are needed",
	`free_address = "0.0.0.0:9"`:                                  "",
	`free_address = "127.0.0.2:80"`:                               "",
	`free_address = "127.0.0.1:80"`:                               "127.0.0.1:80 is taken: process 8 (/usr/sbin/httpd) listens on 127.0.0.1:80",
	`free_address = "0.0.0.0:80"`:                                 "process 8",
	`free_address = "10.0.0.1:443"`:                               "process 9",
	`free_address = "[::1]:444"`:                                  "process 10, which cannot be inspected,",
	`free_address = "0.0.0.0:10250"`:                              "process 7",
	`reachable = "http://well.example.com/"`:                      "",
	`reachable = "http://locked.example.com/"`:                    "",
	`reachable = "http://ill.example.com/"`:                       "http://ill.example.com/ answers with status 503",
	`reachable = "https://unknown.example.com/x?sig=secret"`:      "https://unknown.example.com/x does not answer",
	`reachable = "http://unknown.example.com/"`:                   "http://unknown.example.com/ does not answer",
	`image = "oci-layout:/srv/layout"`:                            "",
	`image = "oci-layout:/srv/layout:v1"`:                         "",
	`image = "oci-layout:/srv/layout:v2"`:                         "/srv/layout holds no image with the tag v2",
	`image = "oci-layout:/srv/named:v1"`:                          "", // by the end of a full name
	`image = "oci-layout:/srv/layout.tar:v1"`:                     "", // a layout in a tar is looked into when it is unpacked
	`image = "oci-layout:/srv/empty"`:                             "/srv/empty holds no image",
	`image = "oci-layout:/srv/broken"`:                            "/srv/broken/index.json",
	`image = "oci-layout:/srv/gone"`:                              "no such file",
	`image = "/srv/broken/index.json"`:                            "",
	`image = "/srv/gone.tar"`:                                     "the image /srv/gone.tar cannot be had",
	`image = "https://unknown.example.com/x.tar?sig=secret"`:      "the image https://unknown.example.com/x.tar cannot be had: lookup",
	`image = "https://well.example.com/x.tar"`:                    "",
	`image = "https://get.example.com/x.tar"`:                     "",
	`image = "https://gone.example.com/x.tar"`:                    "status 404",
	`image = "https://unknown.example.com/x.tar"`:                 "no such host",
	`image = "registry.example.com/worker:1.0"`:                   "",
	`image = "registry.example.com/worker:2.0"`:                   "the image registry.example.com/worker:2.0 cannot be had",
	`unit_inactive = "idle.service"`:                              "",
	`unit_inactive = "gone.service"`:                              "",
	`unit_inactive = "docker.service"`:                            "docker.service is active",
	`no_swap = true`:                                              "swap is active: /swapfile",
}

func TestProbes(t *testing.T) {
	for body, want := range probes {
		h := memory.New(options()).Host()
		before := blocktest.Snapshot(t, h.Files, "/")
		s := blocktest.NewStage(h)
		step := blocktest.Step(t, requirecapability.Type(), body)
		change, err := s.Check(step)
		unmet, ok := errors.AsType[*block.Unmet](err)
		switch {
		case want == "" && (err != nil || change.Needed()):
			t.Errorf("%s: %+v, %v", body, change, err)
		case want != "" && (!ok || unmet.Warning || unmet.Advice == "" || !strings.Contains(unmet.Summary, want)):
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		if applied := s.Apply(step); (applied == nil) != (want == "") {
			t.Errorf("%s: applying says %v", body, applied)
		}
		if diff := blocktest.Snapshot(t, h.Files, "/").Untouched(before); diff != "" {
			t.Errorf("%s left something behind: %s", body, diff)
		}
	}
}

func TestSeverityWarning(t *testing.T) {
	s := blocktest.NewStage(memory.New(options()).Host())
	step := blocktest.Step(t, requirecapability.Type(), "no_swap = true\nseverity = \"warning\"")
	_, err := s.Check(step)
	if unmet, ok := errors.AsType[*block.Unmet](err); !ok || !unmet.Warning {
		t.Errorf("check: %v", err)
	}
	if err := s.Apply(step); err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Summary, "/swapfile") {
		t.Errorf("apply: %v, %+v", err, s.Warnings)
	}
}

func TestContract(t *testing.T) {
	for name, body := range map[string]string{
		"executables": `executables = ["nft", "sh"]`, "free space": "free_space {\npath = \"/mnt/small\"\nbytes = 1000\n}",
		"systemd": `systemd_min = 249`, "address": "free_address = \"0.0.0.0:10250\"\nowner = \"kube\"",
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{
				Type: requirecapability.Type(), Body: body, Quiet: true,
				Host:    func(*testing.T) host.Host { return memory.New(options()).Host() },
				Prepare: func(s *blocktest.Stage) { s.Slots = map[string][]string{"kube": {"kube1", "kube2"}} },
			})
		})
	}
	t.Run("packages", func(t *testing.T) {
		blocktest.Run(t, blocktest.Case{
			Type: requirecapability.Type(), Body: four, Leaves: true, Names: []string{"executables systemd-nspawn, curl, nft, mountpoint"},
			Host: func(t *testing.T) host.Host {
				return (&packager{tools: []string{"apt-get", "dpkg-query", "curl"}}).host(t)
			},
		})
	})
}

// R144 to R147: a listener is ours when root and executable both belong to one
// of the machine's slots.
func TestR144ToR147WhoListens(t *testing.T) {
	for name, c := range map[string]struct {
		listener host.ListenerState
		slots    map[string][]string
		ours     bool
	}{
		"ours":                     {host.ListenerState{PID: 7, Root: kube2, Exe: kube2 + "/usr/bin/kubelet"}, map[string][]string{"kube": {"kube1", "kube2"}}, true},
		"no slots known, by label": {host.ListenerState{PID: 7, Root: "/var/lib/machines/kube", Exe: "/var/lib/machines/kube/x"}, nil, true},
		"the root of another":      {host.ListenerState{PID: 7, Root: "/var/lib/machines/kube3", Exe: kube2 + "/x"}, map[string][]string{"kube": {"kube2"}}, false},
		"a program of the host":    {host.ListenerState{PID: 7, Root: kube2, Exe: "/usr/bin/kubelet"}, map[string][]string{"kube": {"kube2"}}, false},
		"a longer name":            {host.ListenerState{PID: 7, Root: kube2 + "0", Exe: kube2 + "0/x"}, map[string][]string{"kube": {"kube2"}}, false},
		"not to be inspected":      {host.ListenerState{PID: 7}, map[string][]string{"kube": {"kube2"}}, false},
		"not to be found":          {host.ListenerState{}, map[string][]string{"kube": {"kube2"}}, false},
	} {
		c.listener.Address = "[::]:10250"
		s := blocktest.NewStage(memory.New(memory.Options{Network: memory.Network{Listeners: []host.ListenerState{c.listener}}}).Host())
		s.Slots = c.slots
		_, err := s.Check(blocktest.Step(t, requirecapability.Type(), "free_address = \"0.0.0.0:10250\"\nowner = \"kube\""))
		if (err == nil) != c.ours {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// R160 to R163 are facts; here: what they decide does not depend on the machine
// the test runs on (R174).
func TestR174ImageManagedComesFromTheFacts(t *testing.T) {
	for _, image := range []bool{false, true} {
		args := blocktest.Args(t, requirecapability.Type(), `executable = "curl"`)
		args.Facts.ImageManaged = image
		_, err := blocktest.NewStage(memory.New(options()).Host()).Check(blocktest.StepOf(t, requirecapability.Type(), args))
		if err == nil || strings.Contains(err.Error(), "system extension") != image {
			t.Errorf("image-managed %v: %v", image, err)
		}
	}
}

// R175 to R179 stand in probes: writable never writes and walks up.
func TestR176H35AnAbsentDirectoryIsNotMade(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	blocktest.NewStage(h).MustHold(t, blocktest.Step(t, requirecapability.Type(), `writable = "/opt/hostler/bin"`))
	if _, err := host.Lstat(h.Files, "/opt/hostler"); !host.Absent(err) {
		t.Errorf("the probe made it: %v", err)
	}
	h.Identity.Privileged = false
	if err := h.Files.MkdirAll("/data", 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := blocktest.NewStage(h).Check(blocktest.Step(t, requirecapability.Type(), `writable = "/data/x"`))
	if err == nil || !strings.Contains(err.Error(), "/data has mode 0555") {
		t.Error(err)
	}
}

func TestOfflineWhatOnlyARunningHostHasIsUnknown(t *testing.T) {
	s := blocktest.NewStage(memory.New(memory.Options{Offline: true}).Host())
	for _, body := range []string{
		`kernel_module = "a"`, `kernel_min = "5.0"`, `systemd_min = 249`, `cgroup = "v2"`, `free_address = "0.0.0.0:1"`,
		`reachable = "http://a.example.com"`, `image = "registry.example.com/a:1"`, `image = "https://a.example.com/x"`,
		`unit_inactive = "a.service"`, `no_swap = true`,
	} {
		step := blocktest.Step(t, requirecapability.Type(), body)
		if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || change.Reason == "" {
			t.Errorf("%s: %+v", body, change)
		}
		if err := s.Apply(step); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{`writable = "/opt/x"`, `executable = "sh"`} {
		s.MustHold(t, blocktest.Step(t, requirecapability.Type(), body))
	}
}

func TestPassingFaults(t *testing.T) {
	s := blocktest.NewStage(memory.New(options()).Host())
	for body, class := range map[string]block.FaultClass{
		`reachable = "http://ill.example.com/"`:       block.FaultNetwork,
		`image = "https://unknown.example.com/x.tar"`: block.FaultNetwork,
		`image = "registry.example.com/worker:2.0"`:   "",
		`no_swap = true`: "",
	} {
		if _, err := s.Check(blocktest.Step(t, requirecapability.Type(), body)); err == nil || block.Passing(err) != class {
			t.Errorf("%s: %v is of class %q", body, err, block.Passing(err))
		}
	}
}

// A certificate is trusted for its own request and no other.
func TestReachableWithACertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(status(401))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	own := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	m := memory.New(memory.Options{Files: map[string]memory.File{"/etc/ca.pem": {Content: own}}})
	h := m.Host()
	h.Network = live{h.Network, host.HonourRoots(&http.Transport{})}
	s := blocktest.NewStage(h)
	for ca, want := range map[string]string{
		own: "", "/etc/ca.pem": "", "": "does not answer", "text": "no certificate in PEM form", "/etc/gone.pem": "/etc/gone.pem",
	} {
		body := fmt.Sprintf("reachable = %q\n", server.URL)
		if ca != "" {
			body += fmt.Sprintf("ca_certificate = %q\n", ca)
		}
		_, err := s.Check(blocktest.Step(t, requirecapability.Type(), body))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("ca_certificate = %.20q: %v", ca, err)
		}
	}
}

type live struct {
	host.Network
	transport http.RoundTripper
}

func (l live) Transport() http.RoundTripper { return l.transport }

func TestTheImageProbeCanBeReplaced(t *testing.T) {
	typ := requirecapability.TypeWith(requirecapability.Options{Image: func(_ context.Context, _ host.View, ref string) error {
		return errors.New("asked for " + ref)
	}})
	_, err := blocktest.NewStage(memory.New(options()).Host()).Check(blocktest.Step(t, typ, `image = "registry.example.com/a:1"`))
	if err == nil || !strings.Contains(err.Error(), "asked for registry.example.com/a:1") {
		t.Error(err)
	}
}

func TestNoServiceManager(t *testing.T) {
	h := memory.New(memory.Options{Offline: true}).Host()
	h.Identity.Live = true
	s := blocktest.NewStage(h)
	s.MustHold(t, blocktest.Step(t, requirecapability.Type(), `unit_inactive = "a.service"`))
	if _, err := s.Check(blocktest.Step(t, requirecapability.Type(), `systemd_min = 1`)); err == nil || !strings.Contains(err.Error(), "systemd does not run") {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		``:                                    "Write exactly one of executable, executables, kernel_module",
		`severity = "warning"`:                "Write exactly one of",
		"executable = \"a\"\ncgroup = \"v2\"": "line 2: More than one requirement: One block holds one fact, and here are executable, cgroup",
		"executable = \"a\"\nowner = \"x\"":   "owner goes with free_address and not with executable",
		"executable = \"a\"\nca_certificate = \"x\"":        "ca_certificate goes with reachable",
		"cgroup = \"v2\"\npackages = { apt = \"a\" }":       "packages goes with executable, executables, kernel_module",
		"executable = \"a\"\npackages = { zypper = \"a\" }": "write apt, dnf or tdnf",
		"executable = \"a\"\npackages = { apt = [] }":       "name one",
		"executable = \"a\"\npackages = { apt = \"a b\" }":  `"a b" is no package name`,
		"executable = \"a\"\npackages = \"a\"":              "Write an object",
		"executable = \"a\"\nseverity = \"fatal\"":          `write one of "error", "warning"`,
		`no_swap = false`:              "requires nothing",
		`cgroup = "v1"`:                `write one of "v2"`,
		`kernel_min = "6.x"`:           "dotted numbers",
		`systemd_min = 2.5`:            "whole number",
		`free_address = "10250"`:       "no address and port",
		`image = "worker"`:             "no full reference",
		`image = "oci-layout:srv"`:     "needs an absolute, clean path",
		`image = "http://a.b/x.tar"`:   "over plain http is refused",
		`executables = [""]`:           "empty string",
		"free_space { path = \"/a\" }": "bytes is required",
	} {
		if got := blocktest.Faults(requirecapability.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
