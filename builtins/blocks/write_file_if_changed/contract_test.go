package writefileifchanged_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	writefile "hostler/builtins/blocks/write_file_if_changed"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

type files = map[string]memory.File

func on(f files) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Files: f}).Host() }
}

// keyed stands for the hash under an installation's key.
func keyed(digest string) string {
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(digest))
	return "keyed:" + hex.EncodeToString(mac.Sum(nil))
}

func withKey(s *blocktest.Stage) { s.Keyed = keyed }

func TestContract(t *testing.T) {
	big := strings.Repeat("a line of text\n", 100)
	cases := map[string]blocktest.Case{
		"new": {Body: `
			path    = "/etc/demo/a.conf"
			content = "one\n"
		`, Host: on(nil)},
		"new below missing directories": {Body: `
			path           = "/opt/demo/etc/a.conf"
			content        = "one\n"
			mode           = "0600"
			directory_mode = "0700"
		`, Host: on(nil)},
		"foreign": {Body: `
			path             = "/etc/demo/a.conf"
			content          = "one\n"
			owner            = "web"
			replaces_foreign = true
		`, Host: on(files{
			"/etc/passwd":      {Content: "web:x:33:33::/:/bin/sh\n"},
			"/etc/demo/a.conf": {Content: "theirs\n", Mode: 0o640, UID: 5, GID: 6},
		})},
		"mode only": {Body: `
			path    = "/etc/demo/a.conf"
			content = "one\n"
		`, Host: on(files{"/etc/demo/a.conf": {Content: "one\n", Mode: 0o600}})},
		"owner and setuid": {Body: `
			path    = "/etc/demo/a.conf"
			content = "one\n"
			mode    = "04755"
			owner   = "12"
			group   = "13"
		`, Host: on(files{"/etc/demo/a.conf": {Content: "one\n"}})},
		"empty": {Body: `
			path    = "/etc/demo/a.conf"
			content = ""
		`, Host: on(files{"/etc/demo/a.conf": {Content: "one\n"}})},
		"base64": {Body: `
			path           = "/etc/demo/a.bin"
			content_base64 = "AAH/\n/g=="
		`, Host: on(nil)},
		"large": {Body: `
			path    = "/etc/demo/a.conf"
			content = ` + "<<EOT\n" + big + "EOT\n", Host: on(nil)},
		"asset": {Body: `
			path   = "/etc/demo/a.conf"
			source = "files/a.conf"
		`, Host: on(nil), Adjust: func(a *block.Args) { a.Assets = blocktest.Assets{"files/a.conf": "from a file\n"} }},
		"link replaced": {Body: `
			path             = "/etc/demo/a.conf"
			content          = "one\n"
			replaces_foreign = true
		`, Host: on(files{"/etc/demo/a.conf": {Link: "real"}, "/etc/demo/real": {Content: "one\n"}})},
		"link followed": {Body: `
			path             = "/etc/demo/a.conf"
			content          = "one\n"
			follow           = true
			replaces_foreign = true
		`, Host: on(files{"/etc/demo/a.conf": {Link: "../real"}, "/etc/real": {Content: "old\n", Mode: 0o600}})},
		"dangling link followed": {Body: `
			path    = "/etc/demo/a.conf"
			content = "one\n"
			follow  = true
		`, Host: on(files{"/etc/demo/a.conf": {Link: "real"}})},
		"bind-mounted": {Body: `
			path             = "/etc/hosts"
			content          = "127.0.0.1 localhost\n"
			in_place         = true
			replaces_foreign = true
		`, Host: func(*testing.T) host.Host {
			return memory.New(memory.Options{Files: files{"/etc/hosts": {Content: "old\n", Mode: 0o600, UID: 3}}, BindFiles: []string{"/etc/hosts"}}).Host()
		}},
		"merge":              {Body: mergeBody, Host: on(files{"/etc/docker/daemon.json": {Content: foreignJSON, Mode: 0o640, GID: 4}})},
		"merge into nothing": {Body: mergeBody, Host: on(nil)},
		"merge through a link": {Body: mergeBody + "follow = true\n", Host: on(files{
			"/etc/docker/daemon.json": {Link: "real.json"}, "/etc/docker/real.json": {Content: foreignJSON},
		})},
		"right already": {Body: `
			path    = "/etc/demo/a.conf"
			content = "one\n"
		`, Host: on(files{"/etc/demo/a.conf": {Content: "one\n"}}), Quiet: true},
		"sensitive": {Body: `
			path    = "/etc/demo/token"
			content = "secret"
			mode    = "0600"
		`, Host: on(nil), Adjust: func(a *block.Args) { a.Secret = map[string]bool{"content": true} }, Prepare: withKey},
		"intact hole": {Body: `
			path    = "/etc/demo/token"
			content = "placeholder"
		`, Host: on(files{"/etc/demo/token": {Content: "secret"}}), Adjust: hole("content", "secret"), Prepare: withKey, Quiet: true},
		"intact hole in base64": {Body: `
			path           = "/etc/demo/token"
			content_base64 = "AA=="
		`, Host: on(files{"/etc/demo/token": {Content: "secret"}}),
			Adjust: hole("content_base64", base64.StdEncoding.EncodeToString([]byte("secret"))), Prepare: withKey, Quiet: true},
	}
	for name, c := range cases {
		c.Type = writefile.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

// hole leaves out the value of a sensitive attribute, as state does.
func hole(attr, value string) func(*block.Args) {
	return func(a *block.Args) {
		vals := a.Value.AsValueMap()
		vals[attr] = cty.NullVal(cty.String)
		a.Value = cty.ObjectVal(vals)
		a.Holes = map[string]block.Hole{attr: {Keyed: keyed(thing.Digest([]byte(value))), Size: int64(len(value)), Vars: []string{"token"}}}
		a.Secret = map[string]bool{attr: true}
	}
}

const foreignJSON = `{
	"z-last": [
		1,
		2.50
	],
	"log-opts": {
		"max-size": "10m",
		"tag": "<&>"
	},
	"data-root": "/srv/docker"
}`

const mergeBody = `
	path    = "/etc/docker/daemon.json"
	merge   = "json"
	content = "{\"log-driver\": \"journald\", \"log-opts\": {\"max-size\": \"50m\", \"max-file\": \"3\"}, \"data-root\": \"/var/lib/docker\"}"
`
