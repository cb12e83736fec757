package absent_test

import (
	"testing"

	"hostler/builtins/blocks/absent"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// The same contract on a directory of a real file system.
func TestContractOnARealTree(t *testing.T) {
	blocktest.Run(t, blocktest.Case{Type: absent.Type(), Body: body, Host: func(t *testing.T) host.Host {
		h, err := offline.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := offline.Close(h); err != nil {
				t.Error(err)
			}
		})
		if err := h.Files.MkdirAll("/etc/demo/old/sub", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := host.Replace(h.Files, "/etc/demo/old/sub/f", host.Content{Bytes: []byte("f"), Mode: 0o2755}); err != nil {
			t.Fatal(err)
		}
		if err := host.Symlink(h.Files, "../nowhere", "/etc/demo/old/link"); err != nil {
			t.Fatal(err)
		}
		return h
	}})
}
