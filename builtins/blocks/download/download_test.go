package download_test

import (
	"archive/tar"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"hostler/builtins/blocks/download"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

type files = map[string]memory.File

const whole = `
	url    = "https://dl.example/agent?sig=topsecret"
	path   = "/usr/local/bin/agent"
	mode   = "0755"
	sha256 = "` // + digest + `"`

func pinned() string { return whole + sum(agent) + "\"\n" }

const members = `
	url     = "https://dl.example/tools.tgz"
	mode    = "0755"
	mutable = true
	members = { "bin/ctr" = "/usr/local/bin/ctr", "bin/runc" = "/opt/new/runc" }
`

func tools(t *testing.T) string {
	return gzipOf(t, tarOf(t, entry{name: "./bin", kind: tar.TypeDir}, entry{name: "./bin/ctr", body: "ctr 1"},
		entry{name: "bin/other", body: "x"}, entry{name: "bin/runc", body: "old"}, entry{name: "bin/runc", body: "runc 2"}))
}

func TestContract(t *testing.T) {
	on := func(o memory.Options) func(*testing.T) host.Host {
		return func(t *testing.T) host.Host {
			return memory.New(serving(&server{files: map[string]string{
				"/agent": agent, "/tools.tgz": tools(t), "/agent.sha256": strings.ToUpper(sum(agent)) + "  agent\n",
			}}, o)).Host()
		}
	}
	roots := []string{"/usr", "/opt", "/etc"}
	for name, c := range map[string]blocktest.Case{
		"pinned":          {Body: pinned(), Host: on(memory.Options{})},
		"file of another": {Body: pinned(), Host: on(memory.Options{Files: files{"/usr/local/bin/agent": {Content: "old", Mode: 0o700, UID: 4}}})},
		"mode only":       {Body: pinned(), Host: on(memory.Options{Files: files{"/usr/local/bin/agent": {Content: agent}}})},
		"digest by URL": {Body: `
			url        = "https://dl.example/agent"
			sha256_url = "https://dl.example/agent.sha256"
			path       = "/usr/local/bin/agent"
		`, Host: on(memory.Options{})},
		"members": {Body: members, Host: on(memory.Options{})},
		"mutable, and something is there": {Body: `
			url     = "https://dl.example/agent"
			mutable = true
			path    = "/usr/local/bin/agent"
		`, Host: on(memory.Options{Files: files{"/usr/local/bin/agent": {Content: "?"}}}), Unforeseen: true},
		"right already": {Body: pinned(), Host: on(memory.Options{Files: files{"/usr/local/bin/agent": {Content: agent, Mode: 0o755}}}), Quiet: true},
		"offline":       {Body: pinned(), Host: on(memory.Options{Offline: true}), Quiet: true},
	} {
		c.Type, c.Roots = download.Type(), roots
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

// stage is a host that a server serves.
func stage(s http.Handler) *blocktest.Stage {
	return blocktest.NewStage(memory.New(serving(s, memory.Options{})).Host())
}

func TestALaterCheckNeedsNoNetwork(t *testing.T) {
	srv := &server{files: map[string]string{"/tools.tgz": tools(t)}}
	s := stage(srv)
	step := blocktest.Step(t, download.Type(), members)
	s.MustApply(t, step)
	if got := read(t, s.Host, "/opt/new/runc"); got != "runc 2" {
		t.Errorf("of two members of one name the last wins: %q", got)
	}
	asked := len(srv.requests)
	s.MustHold(t, blocktest.Step(t, download.Type(), strings.Replace(members, "tools.tgz", "tools.tgz?sig=other", 1)))
	if err := s.Host.Files.Remove("/usr/local/bin/ctr"); err != nil {
		t.Fatal(err)
	}
	ino := func() uint64 {
		info, err := s.Host.Files.Stat("/opt/new/runc")
		if err != nil {
			t.Fatal(err)
		}
		return host.StatOf(info).Ino
	}
	before := ino()
	s.MustApply(t, step)
	if ino() != before || len(srv.requests) != asked {
		t.Errorf("what is lost comes from the cache alone, and the rest stays: %v", srv.requests)
	}
	other := blocktest.Step(t, download.Type(), strings.Replace(members, "tools.tgz", "tools2.tgz", 1))
	if change := s.MustCheck(t, other); change.Action != block.ActionUnknown {
		t.Errorf("another URL: %+v", change)
	}
}

func TestALostCacheCostsADownload(t *testing.T) {
	srv := &server{files: map[string]string{"/tools.tgz": tools(t)}}
	s := stage(srv)
	step := blocktest.Step(t, download.Type(), members)
	s.MustApply(t, step)
	if err := s.Host.Files.RemoveAll("/var/lib/hostler/cache"); err != nil {
		t.Fatal(err)
	}
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "https://dl.example/tools.tgz") {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, step)
	if len(srv.requests) != 2 {
		t.Errorf("%v", srv.requests)
	}
}

func TestArchives(t *testing.T) {
	good := []entry{{name: "bin/ctr", body: "c"}, {name: "bin/runc", body: "r"}}
	for name, c := range map[string]struct {
		archive string
		want    string // "" is good
	}{
		"plain":      {tarOf(t, good...), ""},
		"zstd":       {zstdOf(t, tarOf(t, good...)), ""},
		"global":     {tarOf(t, append([]entry{{name: "./", kind: tar.TypeDir}}, good...)...), ""},
		"missing":    {tarOf(t, good[0]), "has no member bin/runc"},
		"dots":       {tarOf(t, append(good, entry{name: "bin/../../x", body: "x"})...), `hostile name "bin/../../x"`},
		"absolute":   {tarOf(t, append(good, entry{name: "/etc/passwd", body: "x"})...), "hostile name"},
		"backslash":  {tarOf(t, append(good, entry{name: `bin\x`, body: "x"})...), "hostile name"},
		"a link":     {tarOf(t, entry{name: "bin/ctr", kind: tar.TypeSymlink, link: "/etc/shadow"}, good[1]), `is a link to "/etc/shadow"`},
		"a folder":   {tarOf(t, entry{name: "bin/ctr", kind: tar.TypeDir}, good[1]), "no regular file"},
		"no archive": {"just text that is no archive at all" + strings.Repeat(".", 600), "cannot be read as a tar"},
		"xz":         {"\xfd7zXZ\x00..........", "xz compression is not supported"},
		"cut":        {tarOf(t, good...)[:300], "cannot be read as a tar"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(&server{files: map[string]string{"/tools.tgz": c.archive}})
			err := s.Apply(blocktest.Step(t, download.Type(), members))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			_, placed := host.Lstat(s.Host.Files, "/usr/local/bin/ctr")
			if c.want != "" && !host.Absent(placed) {
				t.Error("something was put in place")
			}
		})
	}
}

func TestSizeCaps(t *testing.T) {
	big := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		body, want string
		files      map[string]string
		handle     func(int, http.ResponseWriter, *http.Request) bool
	}{
		"announced": {"url = \"https://dl.example/big\"\nmutable = true\npath = \"/f\"\nmax_bytes = 1000", "has 5000 bytes, and 1000 are the most", map[string]string{"/big": big}, nil},
		"not announced": {"url = \"https://dl.example/big\"\nmutable = true\npath = \"/f\"\nmax_bytes = 1000", "larger than 1000 bytes", nil,
			func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Length", "-1")
				_, _ = w.Write([]byte(big))
				return true
			}},
		"a member": {"url = \"https://dl.example/t\"\nmutable = true\nmembers = { \"m\" = \"/f\" }\nmax_bytes = 3000", "member m has 5000 bytes",
			map[string]string{"/t": gzipOf(t, tarOf(t, entry{name: "m", body: big}))}, nil},
		"a bomb": {"url = \"https://dl.example/t\"\nmutable = true\nmembers = { \"m\" = \"/f\" }\nmax_bytes = 3000", "the archive is too large",
			map[string]string{"/t": gzipOf(t, tarOf(t, entry{name: "b", body: strings.Repeat("x", 1<<18)}, entry{name: "m", body: "m"}))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := stage(&server{files: c.files, handle: c.handle}).Apply(blocktest.Step(t, download.Type(), c.body))
			if err == nil || !strings.Contains(err.Error(), c.want) || block.Passing(err) != "" {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestDigests(t *testing.T) {
	const byURL = "url = \"https://dl.example/agent\"\nsha256_url = \"https://dl.example/agent.sha256\"\npath = \"/f\""
	for name, c := range map[string]struct{ body, sums, want string }{
		"wrong":          {strings.Replace(pinned(), sum(agent), sum("x"), 1), "", "has the digest sha256:" + sum(agent)},
		"upper case":     {strings.Replace(pinned(), sum(agent), "sha256:"+strings.ToUpper(sum(agent)), 1), "", ""},
		"first word":     {byURL, sum(agent) + " *anything\n", ""},
		"by name":        {byURL, sum("x") + "  other\n" + sum(agent) + " *./dist/agent\n", ""},
		"not by name":    {byURL, sum("x") + "  other\n" + sum("y") + "  third\n", "has no digest for agent"},
		"no digest":      {byURL, "<html>", "does not start with a SHA-256 digest"},
		"empty":          {byURL, "", "has no digest"},
		"over 16 KiB":    {byURL, sum(agent) + strings.Repeat(" ", 16<<10), "16448 bytes, and 16384 are the most"},
		"signed":         {byURL, "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + strings.Repeat(sum("x")+"  other\n", 20) + sum(agent) + "  agent\n-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n", ""},
		"of other bytes": {byURL, sum("x"), "has the digest"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(&server{files: map[string]string{"/agent": agent, "/agent.sha256": c.sums}})
			err := s.Apply(blocktest.Step(t, download.Type(), c.body))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestSensitiveURL(t *testing.T) {
	s := stage(&server{files: map[string]string{}})
	args := blocktest.Args(t, download.Type(), pinned())
	args.Secret = map[string]bool{"url": true}
	step := blocktest.StepOf(t, download.Type(), args)
	err := s.Apply(step)
	if err == nil || strings.Contains(err.Error(), "dl.example") || !strings.Contains(err.Error(), "withheld") {
		t.Error(err)
	}
	if change := s.MustCheck(t, step); strings.Contains(change.Diffs[0].Note, "dl.example") {
		t.Errorf("%+v", change)
	}
	s = stage(&server{handle: func(n int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}})
	_ = s.Apply(step)
	for _, w := range s.Warnings {
		if strings.Contains(w.Detail, "dl.example") || !strings.Contains(w.Detail, "withheld; attempt ") {
			t.Errorf("warning %+v", w)
		}
	}
	if len(s.Warnings) == 0 {
		t.Error("the tries are not told")
	}
}

func TestAHoleIsNeededOnlyToFetch(t *testing.T) {
	s := stage(&server{files: map[string]string{"/tools.tgz": tools(t)}})
	s.MustApply(t, blocktest.Step(t, download.Type(), members))
	args := blocktest.Args(t, download.Type(), members)
	vals := args.Value.AsValueMap()
	vals["url"] = cty.NullVal(cty.String)
	args.Value, args.Holes = cty.ObjectVal(vals), map[string]block.Hole{"url": {Keyed: "keyed:1", Vars: []string{"u"}}}
	step := blocktest.StepOf(t, download.Type(), args)
	s.MustHold(t, step)
	if err := s.Host.Files.RemoveAll("/var/lib/hostler/cache"); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(step); !errors.Is(err, block.ErrNeedsInput) {
		t.Error(err)
	}
}

func TestOffline(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Files: files{"/var/lib/hostler/cache/sha256/" + sum(agent): {Content: agent, Mode: 0o600}}}).Host()
	s := blocktest.NewStage(h)
	s.MustApply(t, blocktest.Step(t, download.Type(), pinned()))
	if got := read(t, h, "/usr/local/bin/agent"); got != agent {
		t.Errorf("what is in the cache is put in place: %q", got)
	}
	change := s.MustCheck(t, blocktest.Step(t, download.Type(), members))
	if change.Action != block.ActionNone || len(change.Deferred) != 1 || !strings.Contains(change.Deferred[0], "first run on the running host") {
		t.Errorf("%+v", change)
	}
}

func TestADamagedBlobIsThrownAway(t *testing.T) {
	name := "/var/lib/hostler/cache/sha256/" + sum(agent)
	s := blocktest.NewStage(memory.New(serving(&server{files: map[string]string{"/agent": agent}}, memory.Options{Files: files{name: {Content: "rot"}}})).Host())
	step := blocktest.Step(t, download.Type(), pinned())
	if err := s.Apply(step); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	if _, err := thing.LookPath(s.Host.Files, "/usr/local/bin/agent"); err != nil {
		t.Error(err)
	}
	s.MustApply(t, step)
}

func TestWhatStandsInTheWay(t *testing.T) {
	h := memory.New(memory.Options{Files: files{"/d": {Dir: true}}, ReadOnly: []string{"/usr"}}).Host()
	for path, want := range map[string]string{"/d": "a directory is there", "/usr/f": "read-only file system"} {
		_, err := blocktest.NewStage(h).Check(blocktest.Step(t, download.Type(), strings.Replace(pinned(), "/usr/local/bin/agent", path, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := &server{handle: func(_ int, w http.ResponseWriter, _ *http.Request) bool { cancel(); w.WriteHeader(503); return true }}
	s := stage(srv)
	err := blocktest.Step(t, download.Type(), pinned()).Apply(ctx, s.Do())
	if !errors.Is(err, context.Canceled) || len(srv.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(srv.requests))
	}
}

func TestFaults(t *testing.T) {
	digest := "sha256 = \"" + sum("x") + "\"\n"
	for body, want := range map[string]string{
		"url = \"https://a/x\"\npath = \"/f\"":                                           "exactly one of sha256, sha256_url and mutable",
		"url = \"https://a/x\"\npath = \"/f\"\nmutable = true\n" + digest:                "exactly one of sha256",
		"url = \"https://a/x\"\n" + digest:                                               "exactly one of path and members",
		"url = \"http://a/x\"\npath = \"/f\"\nmutable = true":                            "Plain http without a digest",
		"url = \"http://a/x\"\npath = \"/f\"\nauthorization = \"b\"\n" + digest:          "could be read on the way",
		"url = \"https://a/x\"\npath = \"/\"\n" + digest:                                 "root directory",
		"url = \"https://u:p@a/x\"\npath = \"/f\"\n" + digest:                            "leave them out",
		"url = \"https://a/x\"\npath = \"/f\"\nsha256 = \"abc\"":                         "64 hexadecimal digits; this has 3",
		"url = \"https://a/x\"\nmembers = {}\n" + digest:                                 "at least one member",
		"url = \"https://a/x\"\nmembers = { \"../x\" = \"/f\" }\n" + digest:              "no name of a member",
		"url = \"https://a/x\"\nmembers = { \"/x\" = \"/f\" }\n" + digest:                "no name of a member",
		"url = \"https://a/x\"\nmembers = { \"./x\" = \"/f\" }\n" + digest:               "no name of a member",
		"url = \"https://a/x\"\nmembers = { \"a\\\\b\" = \"/f\" }\n" + digest:            "no name of a member",
		"url = \"https://a/x\"\nmembers = { \"a\" = \"f\" }\n" + digest:                  "absolute path",
		"url = \"https://a/x\"\nmembers = { \"a\" = null }\n" + digest:                   "leave the member out",
		"url = \"https://a/x\"\nmembers = { \"a\" = \"/f\", \"b\" = \"/f\" }\n" + digest: "the path of two members",
		"url = \"https://a/x\"\npath = \"/f\"\nmode = \"755\"\n" + digest:                `write "0755"`,
	} {
		if got := blocktest.Faults(download.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
