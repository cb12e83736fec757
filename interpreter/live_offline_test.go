package interpreter_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/record"
)

const imageSite = `
variable "token" {
  type      = string
  default   = "none"
  sensitive = true
}
write_file_if_changed "x" {
  path    = "/etc/site/x"
  content = "x"
}
write_file_if_changed "kernel" {
  path    = "/etc/site/kernel"
  content = "on ${host.kernel}"
}
write_file_if_changed "token" {
  path    = "/etc/site/token"
  content = "token=${var.token}"
}
write_file_if_changed "id" {
  path    = "/etc/site/id"
  content = ownership().installation_id
}
systemd_unit "a.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
}
restart_on_change "a.service" { watch = [write_file_if_changed.x, systemd_unit["a.service"]] }
`

// carry copies an offline host's tree onto one that runs.
func carry(t *testing.T, from *memory.Memory, to *memory.Memory) {
	t.Helper()
	src, dst := from.Host().Files, to.Host().Files
	var walk func(name string)
	walk = func(name string) {
		names, err := host.Names(src, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			full := filepath.Join(name, n)
			info, err := host.Lstat(src, full)
			if err != nil {
				t.Fatal(err)
			}
			switch _, missing := host.Lstat(dst, full); {
			case info.IsDir():
				if host.Absent(missing) {
					if err := dst.Mkdir(full, info.Mode()); err != nil {
						t.Fatal(err)
					}
				}
				walk(full)
			case info.Mode()&os.ModeSymlink != 0:
				target, err := src.ReadlinkIfPossible(full)
				if err != nil {
					t.Fatal(err)
				}
				if err := host.Symlink(dst, target, full); err != nil {
					t.Fatal(err)
				}
			default:
				b, err := readAll(src, full)
				if err == nil {
					err = host.Replace(dst, full, host.Content{Bytes: b, Mode: host.ModeBits(info.Mode())})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	walk("/etc")
	walk("/var/lib")
}

func readAll(f host.FileView, name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	_, err = file.ReadAt(b, 0)
	if len(b) == 0 {
		err = nil
	}
	return b, err
}

// TestOffline: on a root that does not run, steps with unknown or sensitive
// attributes wait, no id and no key are written, and the first live run mints
// both and completes, with or without the recipe at hand.
func TestOffline(t *testing.T) {
	for name, later := range map[string]given{
		"with the recipe": a(imageSite, "token=secret"),
		"without it":      {vars: []string{"token=secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			image := newRig(t, memory.Options{Offline: true})
			out := image.must(apply, a(imageSite, "token=secret"))
			if out.Word != "deferred" || out.Phase != "installing" || !out.Deferred {
				t.Errorf("outcome %+v", out)
			}
			rec := image.record()
			if rec.ID != "" || rec.Phase != record.Installing || rec.Applied != "" {
				t.Errorf("record %+v", rec)
			}
			image.want(record.KeyFile, "(absent)")
			image.want("/etc/site/x", "x")
			for _, deferred := range []string{"kernel", "token", "id"} {
				image.want("/etc/site/"+deferred, "(absent)")
			}
			image.want("/etc/systemd/system/multi-user.target.wants/a.service", image.read("/etc/systemd/system/a.service"))
			inode := image.inode(record.File)
			image.must(apply, a(imageSite, "token=secret"))
			image.list(image.Effects())
			if image.inode(record.File) != inode {
				t.Error("the record was written again")
			}

			live := newRig(t, memory.Options{})
			carry(t, image.Memory, live.Memory)
			out = live.must(ensure, later)
			rec = live.record()
			if out.Word != "ok" || rec.Phase != record.Complete || len(rec.ID) != 32 {
				t.Errorf("outcome %+v, record %+v", out, rec)
			}
			live.want("/etc/site/token", "token=secret")
			live.want("/etc/site/kernel", "on 6.1.0")
			live.want("/etc/site/id", rec.ID)
			if len(live.read(record.KeyFile)) != 32 || !live.unit("a.service").Running() {
				t.Error("there is no key, or the unit does not run")
			}
			live.must(ensure, nothing)
			live.list(live.Effects())
			live.must(reset, nothing)
			live.same(live.Before)
		})
	}
}

// TestOfflineReset: an offline installation is undone offline.
func TestOfflineReset(t *testing.T) {
	r := newRig(t, memory.Options{Offline: true, Files: map[string]memory.File{"/etc/site/x": {Content: "x", Mode: 0o600}}})
	r.must(plan, a(imageSite))
	r.must(apply, a(imageSite))
	r.must(reset, nothing)
	r.same(r.Before)
	if _, err := r.run(adopt, a(imageSite)); err == nil || !strings.Contains(err.Error(), "needs the running host") {
		t.Errorf("error %v", err)
	}
}

// TestRealTree: the same on a directory of this machine, without privileges.
func TestRealTree(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"etc/os-release": "ID=debian\nVERSION_ID=12\n", "etc/passwd": "root:x:0:0::/:/bin/sh\n", "etc/group": "root:x:0:\n", "etc/motd": "theirs\n"} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := offline.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer offline.Close(h)
	in := &interpreter.Interpreter{Vocabulary: builtins.Vocabulary(), Host: h, Rand: strings.NewReader("")}
	helper := newRig(t, memory.Options{})
	ctx := context.Background()
	before := listing(t, root)
	for range 2 {
		if out, err := in.Apply(ctx, helper.request(a(site))); err != nil || out.Word != "deferred" {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "etc/motd")); err != nil || string(b) != "ours" {
		t.Errorf("motd %q, %v", b, err)
	}
	if _, err := in.Reset(ctx, interpreter.Request{}); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, root); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// listing describes a tree.
func listing(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(name, root) + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(text))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
