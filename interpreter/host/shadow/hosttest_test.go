package shadow_test

import (
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/shadow"
)

func TestFilesOverEmptyBase(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files {
		h, _ := over(t, &still{}, nil)
		return h.Files
	})
}

// partial is a base that already holds what the suite makes, otherwise.
func partial() map[string]string {
	d := hosttest.Dir[1:] + "/"
	return map[string]string{
		d + "file": "base", d + "dir/kept": "base", d + "dir/sub/": "", d + "link": "-> nowhere", d + "a": "base a",
		d + "b": "= " + d + "a", d + "full/file": "base", d + "tree/a/x": "base", d + "none/below/": "",
		d + "dangling": "-> loop", d + "loop": "-> loop", d + "to/moved/": "", d + "from/a/b/c": "base",
	}
}

func TestFilesOverPartialBase(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files {
		h, _ := over(t, &still{}, partial())
		return h.Files
	})
}

func TestFilesOverAnotherShadow(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files {
		h, _ := over(t, &still{}, partial())
		write(t, h.Files, hosttest.Dir+"/old", "old")
		return shadow.Over(h.View()).Host().Files
	})
}

func TestFilesInsideMachine(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files {
		h, _ := over(t, &still{}, map[string]string{"var/lib/machines/kube1/etc/": ""})
		in, err := h.Machines.Host(t.Context(), "kube1")
		must(t, err)
		return in.Files
	})
}

func TestAtRest(t *testing.T) {
	hosttest.AtRest(t, func(t *testing.T) host.Host {
		h, _ := over(t, &still{noManager: true, transport: refused{}}, nil)
		return h
	})
}
