package rootfs

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

// TestC50Escapes: what tries to leave the tree lands inside or is refused, the
// same for a registry, a layout and a tar, local or over https; the host around
// it stays as it is.
func TestC50Escapes(t *testing.T) {
	for name, c := range map[string]struct{ layer, tree, fault string }{
		"through a link":     {"l x -> /etc\n f x/cron.d/pwn p", `d etc;d etc/cron.d;f etc/cron.d/pwn "p";l x "/etc"`, ""},
		"dots":               {"f ../../evil x", "", `its name holds ".."`},
		"absolute":           {"f /abs a", `f abs "a"`, ""},
		"hard link":          {"h h = ../../../etc/shadow\n f h x", "", "leads out of the tree"},
		"exchanged for link": {"d a\n f a/one 1\n l a -> /etc\n f a/two 2", `l a "/etc";d etc;f etc/two "2"`, ""},
	} {
		for how, src := range everySource(t, c.layer) {
			h, dir := realHost(t)
			canary := filepath.Join(dir, "etc", "shadow")
			if err := os.MkdirAll(filepath.Dir(canary), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(canary, []byte("sings"), 0o600); err != nil {
				t.Fatal(err)
			}
			image, err := Resolve(context.Background(), src, amd64)
			if err == nil {
				_, err = Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{})
			}
			tree := ""
			if err == nil {
				tree = strings.Join(brief(listDir(t, filepath.Join(dir, host.MachineRoot("m")))), ";")
			}
			if tree != c.tree || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) || c.fault == "" && err != nil {
				t.Errorf("%s from %s: %s, %v", name, how, tree, err)
			}
			if b, err := os.ReadFile(canary); err != nil || string(b) != "sings" {
				t.Errorf("%s from %s: the canary: %q, %v", name, how, b, err)
			}
			if all, err := os.ReadDir(filepath.Join(dir, "etc")); err != nil || len(all) != 1 {
				t.Errorf("%s from %s: /etc of the host holds %v, %v", name, how, all, err)
			}
		}
	}
}

// everySource gives one layer from everywhere.
func everySource(t *testing.T, layer string) map[string]Source {
	t.Helper()
	plain := tarOf(t, layer)
	img := imageOfTar(t, plain)
	reg := startRegistry(t, nil)
	push(t, reg+"/x:1", img)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(gz(t, plain)) }))
	t.Cleanup(server.Close)
	fromRegistry, _ := netSource(t, reg+"/x:1")
	fromServer, _ := netSource(t, server.URL+"/x.tar.gz")
	fromServer.SHA256 = strings.TrimPrefix(sum(gz(t, plain)), "sha256:")
	fromServer.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return map[string]Source{
		"registry": fromRegistry, "https": fromServer,
		"layout": {Image: "oci-layout:" + writeLayout(t, img), Files: hostFiles()},
		"tar":    {Image: writeFile(t, "x.tar", plain), Files: hostFiles()},
	}
}
