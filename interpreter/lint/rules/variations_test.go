package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// service is a recipe with a service of these lines, and more arguments.
func service(lines string, more ...string) string {
	text := "systemd_unit \"demo.service\" {\n  content = <<-EOT\n"
	for line := range strings.Lines(lines) {
		text += "    " + line
	}
	return text + "  EOT\n" + strings.Join(more, "") + "}\n"
}

// file is a recipe that writes one file.
func file(path, content string, more ...string) string {
	return fmt.Sprintf("write_file_if_changed \"a\" {\n  path    = %s\n  content = %s\n%s}\n", path, content, strings.Join(more, ""))
}

// machine is a recipe with a machine that holds more.
func machine(more string) string {
	return "require_capability \"nspawn\" {\n  executables = [\"systemd-nspawn\"]\n}\nnspawn_machine \"m\" {\n  rootfs {\n    image = \"r.example/a@sha256:" + strings.Repeat("0", 64) + "\"\n  }\n" + more + "  ready {\n    unit = \"a.target\"\n  }\n}\n"
}

const start = "[Service]\nExecStart=/usr/bin/demo\n"

// TestUnitVariations looks at more forms of what rules about units find.
func TestUnitVariations(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		// names of directives and sections
		{service(start + "«Foobarbaz»=1\n"), []string{"unit-unknown-directive"}},
		{service(start + "X-Mine=1\n\n[X-Mine]\nAnything=1\n"), nil},
		{service(start + "\n«[Socket]»\nListenStream=1\n"), []string{"unit-unknown-section"}},
		{service(start + "\n«[Zzzzzzzz]»\nA=1\n"), []string{"unit-unknown-section"}},
		{"systemd_unit \"a.target\" {\n  content = \"[Unit]\\nDescription=A\\n\"\n}\n", nil},
		{service("[Unit]\n«ExecStart»=/usr/bin/x\n\n" + start), []string{"unit-wrong-section"}},
		{service(start + "«StartLimitIntervalSec»=0\n"), []string{"unit-wrong-section"}},
		{service(start + "StartLimitInterval=0\n"), nil},
		{"systemd_unit \"demo.service\" {\n  drop_in \"a.conf\" {\n    content = \"[Service]\\n«Nise»=1\\n\"\n  }\n}\n", []string{"unit-unknown-directive"}},
		// deprecated ones
		{service(start + "«CPUShares»=1\n«BlockIOWeight»=1\n«PermissionsStartOnly»=yes\n«KillMode»=none\n«StandardOutput»=syslog\n"), []string{"unit-deprecated", "unit-deprecated", "unit-deprecated", "unit-deprecated", "unit-deprecated"}},
		{service("[Unit]\n«RequiresOverridable»=a.socket\n\n" + start), []string{"unit-deprecated"}},
		// values
		{service(start + "Type=«simpel»\nRemainAfterExit=«ture»\nKillMode=«all-of-it-please»\n"), []string{"unit-value", "unit-value", "unit-value"}},
		{service(start + "Type=exec\nRemainAfterExit=YES\nPrivateTmp=disconnected\nNotifyAccess=main\nOOMPolicy=kill\nRestart=\n"), nil},
		// command lines
		{service("[Service]\nExecStart=«/usr/bin/demo \"a»\n"), []string{"unit-exec-path"}},
		{service("[Service]\nExecStart=«/usr/bin/»\n"), []string{"unit-exec-path"}},
		{service(start + "ExecStartPre=-/bin/sh -c 'a | b > c'\nExecStop=/usr/bin/demo \"|\"\n"), nil},
		{service(start + "ExecStartPre=/usr/bin/a «|» /usr/bin/b\n"), []string{"unit-exec-shell"}},
		{service(start + "ExecStartPre=/usr/bin/a «$(id)»\n"), []string{"unit-exec-shell"}},
		{service(start + "ExecSearchPath=/opt/bin\nExecStartPre=demo\n"), nil},
		{service(start + "EnvironmentFile=/etc/a\nExecStartPre=/bin/sh -c 'echo $${A}'\n"), nil},
		{service(start + "Environment=A=1 B=2\nExecStartPre=/bin/sh -c 'echo $${A} $${B} $${HOME}'\n"), nil},
		{service(start + "Environment=A=1\nExecStartPre=/bin/sh -c 'echo $«${C}»'\n"), []string{"unit-exec-dollar"}},
		{service("[Service]\nExecStart=/usr/bin/demo «%Q»\n"), []string{"unit-specifier"}},
		{service("[Service]\nExecStart=/usr/bin/demo «100%»\n"), []string{"unit-specifier"}},
		{service(start + "MemoryMax=50%\nCPUQuota=20%\n"), nil},
		{service("[Unit]\nDescription=100% demo %Q\n\n" + start + "Environment=A=%i%%\n"), nil},
		// starting
		{service("«[Service]»\nType=simple\n"), []string{"unit-service-start"}},
		{service("[Service]\nType=oneshot\nExecStop=/usr/bin/a\nRemainAfterExit=yes\n"), nil},
		{service(start + "ExecStart=\nExecStart=/usr/bin/other\n"), nil},
		{service("[Service]\nType=oneshot\nExecStart=/usr/bin/a\nExecStart=/usr/bin/b\n"), nil},
		{"variable \"more\" {\n  type = string\n}\n" + service("[Service]\n${var.more}\n"), nil},
		{service(start, "  drop_in \"a.conf\" {\n    content = \"[Service]\\n«ExecStart»=/usr/bin/b\\n\"\n  }\n"), []string{"unit-drop-in-exec"}},
		// dependencies
		{service("[Unit]\nBindsTo=«a.service» b.mount c.socket\nRequires=d.service\nAfter=d.service\n\n" + start), []string{"unit-requires-order"}},
		{service("[Unit]\nAfter=a.service «network-online.target»\n\n" + start), []string{"unit-network-online"}},
		{service("[Unit]\nAfter=network-online.target\nBindsTo=network-online.target\n\n" + start), nil},
		{service("[Unit]\nAfter=«a.service»\nBefore=a.service\n\n" + start), []string{"unit-self-dependency"}},
		// restarts
		{service(start + "Restart=«always»\nRestartSec=1\n"), []string{"unit-restart-limit"}},
		{service(start + "Restart=«always»\nRestartSec=2 sec\n"), []string{"unit-restart-limit"}},
		{service(start + "Restart=always\nRestartSec=1min\n"), nil},
		{service(start + "Restart=always\nRestartSec=infinity\n"), nil},
		{service("[Unit]\nStartLimitIntervalSec=0\n\n" + start + "Restart=always\n"), nil},
		{service("[Service]\nType=oneshot\nExecStart=/usr/bin/a\nRestart=«on-success»\nRestartSec=1h\n"), []string{"unit-oneshot-restart"}},
		// credentials and paths
		{service(start + "LoadCredential=a:/etc/a\nLoadCredentialEncrypted=«b»\nSetCredential=c:x\nLoadCredential=c\nLoadCredential=\n"), []string{"unit-credential-source"}},
		{service(start + "PIDFile=«/var/run/»demo.pid\n"), []string{"unit-var-run"}},
		{service(start + "Environment=«API_TOKEN=abc» MODE=x\n"), []string{"secret-in-unit"}},
		{service(start + "Environment=API_TOKEN_FILE=/etc/token TOKEN=/run/token\n"), nil},
		{"variable \"s\" {\n  type      = string\n  sensitive = true\n}\nsystemd_unit \"demo.service\" {\n  content = «\"[Service]\\nExecStart=/usr/bin/demo\\nNice=${var.s}\\n\"»\n}\n", []string{"secret-in-unit"}},
		{service("[Service]\nExecStart=/usr/bin/demo --token «abc»\n"), []string{"secret-in-argv"}},
		{service("[Service]\nExecStart=/usr/bin/demo --token $TOKEN --password-file /etc/p --secret -x --api-key=%d/key\n"), nil},
		// installing
		{service(start + "\n[Install]\nWantedBy=«not a unit»\n"), []string{"unit-wanted-by", "unit-wanted-by", "unit-wanted-by"}},
		{service(start + "\n[Install]\nWantedBy=demo-group.target other.service\nRequiredBy=systemd-nspawn@.service\n"), nil},
		{"systemd_unit \"demo@.service\" {\n  content = \"[Service]\\nExecStart=/usr/bin/a\\n\"\n  state   = «\"started\"»\n  restart = \"never\"\n}\n", []string{"unit-template-instance"}},
		// hostler itself
		{service("[Service]\nType=oneshot\nExecStart=/opt/bin/hostler apply /etc/site\nTimeoutStartSec=1h\n"), nil},
		{service("[Service]\nExecStart=«/opt/bin/hostler» daemon\n"), []string{"unit-exit-69", "unit-exit-69"}},
	} {
		text := c.text
		if len(c.want) == 3 && c.want[0] == "unit-wanted-by" {
			text = strings.Replace(text, "«not a unit»", "«not» «a» «unit»", 1)
		}
		t.Run("", func(t *testing.T) {
			if finds(t, text, c.want...); t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestStepVariations looks at more forms of what rules about steps find.
func TestStepVariations(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		// files
		{file(`"/opt/a"`, `"#!/bin/sh\n"`, "  mode    = «\"0600\"»\n"), []string{"script-not-executable"}},
		{file(`"/opt/a"`, `"\u007fELF\n"`, "  mode    = «\"0755\"»\n"), []string{"executable-text"}},
		{file(`"/etc/a"`, `"«-----BEGIN OPENSSH PRIVATE KEY-----»\n"`, "  mode    = \"0600\"\n") + "# «-----BEGIN RSA PRIVATE KEY-----»\n", []string{"secret-literal", "secret-literal"}},
		{file(`«"/etc/ssh/sshd_config"»`, `"a\n"`, "  replaces_foreign = true\n"), []string{"validate-missing"}},
		{file(`"/etc/hosts"`, `"{}\n"`, "  merge = \"json\"\n"), nil},
		{file(`«"/etc/cron.d/a.sh"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/cron.daily/a.sh"»`, `"#!/bin/sh\n"`, "  mode    = \"0755\"\n"), []string{"ignored-file-name"}},
		{file(`«"/etc/sudoers.d/a.conf"»`, `"a\n"`, "  validate = [\"visudo\", \"-cf\", \"{}\"]\n"), []string{"ignored-file-name"}},
		{file(`«"/etc/udev/rules.d/a.conf"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/systemd/network/a.conf"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/systemd/journald.conf.d/a"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/apt/apt.conf.d/a.bak"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/apt/sources.list.d/a"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/profile.d/a"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/yum.repos.d/a"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`«"/etc/systemd/nspawn/a"»`, `"a\n"`), []string{"ignored-file-name"}},
		{file(`"/etc/apt/apt.conf.d/99-a"`, `"a\n"`), nil},
		{file(`"/etc/demo.toml"`, `"a = «.»\n"`), []string{"content-syntax"}},
		{file(`"/etc/demo.toml"`, `"a = 1\n"`), nil},
		{file(`"/etc/demo.json"`, `"{\"a\": «x»}\n"`), []string{"content-syntax"}},
		{"variable \"x\" {\n  type = string\n}\n" + file(`"/etc/demo.json"`, `"{\"a\": ${var.x}\n"`), nil},
		{file(`"/etc/a"`, "«<<-EOT\n    a\n  EOT»"), []string{}},
		{file(`«"/etc/systemd/system/a.service.d/10-x.conf"»`, `"[Service]\nNice=1\n"`), []string{"unit-file-written"}},
		{file(`«"/tmp/a"»`, `"a\n"`), []string{"volatile-path"}},
		{"absent \"a\" {\n  path = \"/tmp/a\"\n}\n", nil},
		{"directory \"a\" {\n  path = \"/srv/a\"\n  mode = «\"0777\"»\n}\n", []string{"world-writable"}},
		{"directory \"a\" {\n  path = \"/srv/a\"\n  mode = «0999»\n}\n", []string{"bare-mode"}},
		{"directory \"a\" {\n  path = \"/srv/a\"\n  mode = «600 + 44»\n}\n", []string{"validate"}},
		// ownership
		{"symlink \"a\" {\n  path   = \"/etc/a\"\n  target = \"/etc/b\"\n}\n" + file(`«"/etc/a/x"»`, `"x\n"`), []string{"owned-overlap"}},
		{machine("") + file(`«"/var/lib/machines/m/etc/x"»`, `"x\n"`), []string{"owned-overlap"}},
		{machine("") + file(`«"/etc/systemd/nspawn/m.nspawn"»`, `"x\n"`), []string{"owned-overlap"}},
		{machine("  service {\n    unit = { Description = \"x\" }\n  }\n") + file(`«"/etc/systemd/system/systemd-nspawn@m.service.d/a.conf"»`, `"[Service]\nNice=1\n"`), []string{"owned-overlap", "unit-file-written"}},
		// machines
		{machine("  after_boot {\n    write_file_if_changed \"t\" {\n      path    = «\"/etc/tmpfiles.d/a.conf\"»\n      content = \"a\\n\"\n    }\n    write_file_if_changed \"c\" {\n      path    = \"/etc/demo.conf\"\n      content = \"a\\n\"\n    }\n  }\n"), []string{"machine-late-file"}},
		{machine("  service {\n    service = { «\"Restrat\"» = \"always\" }\n    unit    = { «Zzz-zz» = \"1\" }\n  }\n"), []string{"machine-directive", "machine-directive"}},
		{strings.Replace(machine(""), "nspawn_machine \"m\" {\n", "nspawn_machine \"m\" {\n  name = «\"a_b\"»\n", 1), []string{"machine-name"}},
		{strings.Replace(machine(""), "nspawn_machine \"m\" {\n", "nspawn_machine \"m\" {\n  slots = [\"a\", «\"b_c\"»]\n", 1), []string{"machine-name"}},
		{strings.Replace(machine(""), "require_capability \"nspawn\" {\n  executables = [\"systemd-nspawn\"]\n}\nnspawn_machine \"m\"", "«nspawn_machine \"m\"»", 1), []string{"capability-missing"}},
		// images and addresses
		{"require_capability \"a\" {\n  image = «\"r.example/a\"»\n}\n", []string{"image-tag"}},
		{"require_capability \"a\" {\n  image = \"oci-layout:/srv/a\"\n}\n", nil},
		{"require_capability \"a\" {\n  image = «\"r.example:5000/a:nightly\"»\n}\n", []string{"image-tag"}},
		{"require_capability \"a\" {\n  image = «\"oci://r.example/a:1\"»\n}\n", []string{"oci-scheme"}},
		{"wait_for \"a\" {\n  url = \"http://127.0.0.1:80/\"\n}\n", nil},
		{"require_capability \"a\" {\n  reachable = «\"http://a.example\"»\n}\n", []string{"plain-http"}},
		// commands
		{"wait_for \"a\" {\n  command = [\"demo\", «\"--password=x\"»]\n}\n", []string{"secret-in-argv"}},
		{"variable \"s\" {\n  type      = string\n  sensitive = true\n}\nwait_for \"a\" {\n  command = [\"demo\", «var.s»]\n}\n", []string{"secret-in-argv"}},
		{"require_capability \"nft\" {\n  executable = \"/usr/sbin/nft\"\n}\ncommand \"a\" {\n  argv    = «[\"nft\", \"flush\", \"ruleset\"]»\n  creates = \"/x\"\n}\nreset_step \"a\" {\n  remove_path {\n    path = \"/x\"\n  }\n}\n", []string{"nft-flush"}},
		{file(`"/etc/a.nft"`, `"flush ruleset\n"`) + service("[Service]\nType=oneshot\nExecStart=/usr/sbin/nft -f «/etc/a.nft»\n"), []string{"nft-flush"}},
		{file(`"/etc/a.nft"`, `"flush ruleset\n"`) + service("[Service]\nType=oneshot\nExecCondition=/usr/bin/x\nExecStart=/usr/sbin/nft -f /etc/a.nft\n"), nil},
		// watching
		{file(`"/etc/demo.conf"`, `"a\n"`) + "restart_on_change \"a.service\" {\n  watch = [write_file_if_changed.a, «write_file_if_changed.a»]\n}\n", []string{"watch-without-effect"}},
		{file(`"/etc/demo.conf"`, `"a\n"`) + service("[Service]\nExecStart=/usr/bin/a -c=/etc/demo.conf\n", "  state   = \"started\"\n") +
			"restart_on_change \"one\" {\n  name  = \"demo.service\"\n  watch = [systemd_unit[\"demo.service\"]]\n}\nrestart_on_change \"two\" {\n  name  = \"demo.service\"\n  watch = [write_file_if_changed.a]\n}\n", nil},
		{service(start+"Type=notify-reload\n", "  state   = \"started\"\n") + "restart_on_change \"demo.service\" {\n  watch  = [systemd_unit[\"demo.service\"]]\n  action = \"reload\"\n}\n", nil},
		// language
		{"variable \"l\" {\n  type    = list(object({ a = string }))\n  default = []\n}\noutput \"l\" {\n  value = var.l«.*».a\n}\n", []string{"deprecated-form"}},
		{"locals {\n  «a» = <<-EOT\n    x\n  EOT\n}\n", []string{"unused-local"}},
		{"locals { «a» = 1 }\n", []string{"unused-local"}},
		{"variable \"a\" {\n  type    = string\n  default = \"x\"\n  validation {\n    condition     = var.a != \"\"\n    error_message = \"No.\"\n  }\n}\noutput \"a\" {\n  value = var[\"a\"]\n}\n", nil},
		{"stage \"s\" {\n  when = «true»\n  directory \"a\" {\n    path = \"/srv/a\"\n  }\n}\n", []string{"constant-when"}},
		{"locals {\n  x = {\n    a = 1\n  }\n}\noutput \"x\" {\n  value = «\"${merge(local.x, {\n    b = 1\n  })}\"»\n}\n", []string{"redundant-template"}},
		{"require_capability \"a\" {\n  executable = \"x\"\n  packages   = { apt = [\"x\"], dnf = [\"x\"] }\n}\n", nil},
	} {
		if c.want != nil && len(c.want) == 0 {
			c.text, c.want = strings.NewReplacer("«", "", "»", "").Replace(c.text), nil
		}
		t.Run("", func(t *testing.T) {
			if finds(t, c.text, c.want...); t.Failed() {
				t.Log(c.text)
			}
		})
	}
}
