package writefileifchanged_test

import (
	"testing"

	writefile "hostler/builtins/blocks/write_file_if_changed"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// The same contract on a directory of a real file system.
func TestContractOnARealTree(t *testing.T) {
	for name, body := range map[string]string{
		"new":      "path = \"/etc/new.d/a\"\ncontent = \"new\"\nmode = \"0600\"",
		"foreign":  "path = \"/etc/there\"\ncontent = \"new\"\nreplaces_foreign = true",
		"followed": "path = \"/etc/link\"\ncontent = \"new\"\nreplaces_foreign = true\nfollow = true",
		"merge":    "path = \"/etc/there.json\"\ncontent = \"{\\\"a\\\": {\\\"b\\\": 1}}\"\nmerge = \"json\"",
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{Type: writefile.Type(), Body: body, Host: realTree})
		})
	}
}

func realTree(t *testing.T) host.Host {
	h, err := offline.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := offline.Close(h); err != nil {
			t.Error(err)
		}
	})
	if err := h.Files.Mkdir("/etc", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"/etc/there": "old", "/etc/there.json": `{"a": {"c": 2}}`} {
		if err := host.Replace(h.Files, name, host.Content{Bytes: []byte(content), Mode: 0o640}); err != nil {
			t.Fatal(err)
		}
	}
	if err := host.Symlink(h.Files, "/etc/there", "/etc/link"); err != nil {
		t.Fatal(err)
	}
	return h
}
