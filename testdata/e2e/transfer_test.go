//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// mirror serves files, not always at once: what it is asked is noted.
type mirror struct {
	mu    sync.Mutex
	asked []string
	files map[string][]byte
	cut   map[string]int // how often it breaks off in the middle
	fails map[string]int // how often it answers with 503
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.asked = append(m.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	content, ok := m.files[r.URL.Path]
	cut, failing := m.cut[r.URL.Path] > 0, m.fails[r.URL.Path] > 0
	m.cut[r.URL.Path]--
	m.fails[r.URL.Path]--
	m.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
	case failing:
		w.WriteHeader(http.StatusServiceUnavailable)
	case cut:
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Header().Set("Accept-Ranges", "bytes")
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write(content[:len(content)/2])
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// requests are those since the last call.
func (m *mirror) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.asked = nil
	return asked
}

// packed is a tar.gz of members; a content that starts with "->" is a link.
func packed(t *testing.T, members ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m[0], Mode: 0o644, Size: int64(len(m[1])), Format: tar.FormatGNU}
		body := m[1]
		if target, ok := strings.CutPrefix(body, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, body = tar.TypeSymlink, target, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("packing failed")
	}
	return b.Bytes()
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// TestDownloads: files and members of archives over a network that breaks, and
// archives that mean harm.
func TestDownloads(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{Variants: []lab.Variant{lab.NoexecTmp}})
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	tools := packed(t, [2]string{"./bin/ctr", "#!/bin/sh\necho ctr\n"}, [2]string{"bin/other", "x"}, [2]string{"bin/link", "->ctr"})
	m := &mirror{
		files: map[string][]byte{"/large": large, "/tools.tar.gz": tools, "/busy": []byte("busy"), "/release.sha256": []byte(sum(large) + "  large\n" + sum(tools) + "  tools.tar.gz\n")},
		cut:   map[string]int{"/large": 2}, fails: map[string]int{"/busy": 2},
	}
	plain := lab.Serve(t, m)
	secure, authority := lab.ServeTLS(t, m)
	s.Push("/etc/authority.pem", authority, 0o644)
	recipe := fmt.Sprintf(`download "large" {
  url    = "%[1]s/large?signature=canary"
  sha256 = %[3]q
  path   = "/opt/demo/large"
}
download "tools" {
  url        = "%[2]s/tools.tar.gz"
  sha256_url = "%[2]s/release.sha256"
  members    = { "bin/ctr" = "/opt/demo/bin/ctr" }
  mode       = "0755"
}
download "busy" {
  url    = "%[1]s/busy"
  sha256 = %[4]q
  path   = "/opt/demo/busy"
  retry {
    attempts = 4
    delay    = "50ms"
  }
}
download "moving" {
  url     = "%[2]s/busy"
  mutable = true
  path    = "/opt/demo/moving"
}
`, plain, secure, sum(large), sum([]byte("busy")))
	run := func(verb string) outcome {
		t.Helper()
		return eventsOf(t, s.Exec("env", "SSL_CERT_FILE=/etc/authority.pem", program, verb, s.write(recipe), "--output", "json"))
	}
	o := run("apply")
	if o.Code != 0 || strings.Contains(o.Stdout+o.Stderr, "canary") {
		t.Fatalf("apply: %s", o)
	}
	s.holds("in place", fmt.Sprintf(`test "$(/opt/demo/bin/ctr)" = ctr; test "$(cat /opt/demo/busy /opt/demo/moving)" = busybusy; echo '%s  /opt/demo/large' | sha256sum -c`, sum(large)))
	// In an order of their own: what later steps need is fetched meanwhile.
	asked := m.requests()
	count := func(request string) (n int) {
		for _, one := range asked {
			if one == request {
				n++
			}
		}
		return n
	}
	if count("/large") != 1 || count(fmt.Sprintf("/large bytes=%d-", len(large)/2)) != 2 || count("/busy") < 4 || count("/tools.tar.gz") != 1 {
		t.Errorf("asked for %q", asked)
	}

	s.wantChanged(run("ensure"))
	s.sh("rm /opt/demo/large; chmod 600 /opt/demo/bin/ctr")
	m.mu.Lock()
	m.files["/busy"] = []byte("else")
	m.mu.Unlock()
	s.wantChanged(run("apply"), "download.large", "download.tools")
	if asked := m.requests(); len(asked) > 0 {
		t.Errorf("what is known by its digest is asked for again: %q", asked)
	}
	s.must("reset")
	s.holds("after the reset", "! test -e /opt/demo; ! test -e /var/lib/hostler")

	for name, c := range map[string]struct {
		archive []byte
		member  string
		want    string
	}{
		"up":        {packed(t, [2]string{"bin/ctr", "x"}, [2]string{"../../../etc/evil", "x"}), "bin/ctr", "hostile name"},
		"absolute":  {packed(t, [2]string{"/etc/evil", "x"}, [2]string{"bin/ctr", "x"}), "bin/ctr", "hostile name"},
		"backslash": {packed(t, [2]string{"bin\\evil", "x"}, [2]string{"bin/ctr", "x"}), "bin/ctr", "hostile name"},
		"a link":    {packed(t, [2]string{"bin/ctr", "->/etc/shadow"}), "bin/ctr", "is a link to"},
		"missing":   {packed(t, [2]string{"bin/else", "x"}), "bin/ctr", "no member bin/ctr"},
		"no tar":    {[]byte("nothing of the kind"), "bin/ctr", "archive"},
	} {
		m.mu.Lock()
		m.files["/evil"] = c.archive
		m.mu.Unlock()
		o := s.hostler("apply", s.write(fmt.Sprintf("download \"evil\" {\n url = \"%s/evil\"\n sha256 = %q\n members = { %q = \"/opt/demo/ctr\" }\n}\n", plain, sum(c.archive), c.member)))
		if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, c.want) {
			t.Errorf("%s: %s", name, o)
		}
		s.holds(name, "! test -e /etc/evil; ! test -e /opt/demo/ctr")
		s.must("reset")
	}
	o = s.hostler("apply", s.write(fmt.Sprintf("download \"wrong\" {\n url = \"%s/busy\"\n sha256 = %q\n path = \"/opt/demo/x\"\n}\n", plain, sum(large))))
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, sum(large)) || !strings.Contains(why, sum([]byte("else"))) {
		t.Errorf("another digest: %s", o)
	}
}
