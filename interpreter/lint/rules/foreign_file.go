package rules

import (
	"slices"

	"hostler/interpreter/lint"
)

func foreignFile() *lint.Rule {
	return &lint.Rule{
		Name: "foreign-file", Summary: "File that is there already", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "Every system ships this file, and a path that exists before the installation with other bytes is refused: the first run stops, with\n" +
			"exit code 73. `replaces_foreign = true` keeps the original and puts it back on reset. Better is a file of your own in the drop-in\n" +
			"directory that most programs read, such as `/etc/ssh/sshd_config.d`.",
		Bad: `
write_file_if_changed "hosts" {
  path    = «"/etc/hosts"»
  content = "127.0.0.1 localhost\n"
}
`,
		Good: `
write_file_if_changed "hosts" {
  path             = "/etc/hosts"
  replaces_foreign = true
  content          = "127.0.0.1 localhost\n"
}
`,
		Check: checkForeignFile,
	}
}

// shippedFiles are on every, or nearly every, system.
func shippedFiles() []string {
	return []string{
		"/etc/adduser.conf", "/etc/bash.bashrc", "/etc/bashrc", "/etc/crontab", "/etc/environment", "/etc/fstab", "/etc/group", "/etc/gshadow",
		"/etc/hostname", "/etc/hosts", "/etc/issue", "/etc/ld.so.conf", "/etc/locale.conf", "/etc/login.defs", "/etc/logrotate.conf",
		"/etc/modules", "/etc/motd", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/profile", "/etc/resolv.conf", "/etc/shadow",
		"/etc/shells", "/etc/ssh/sshd_config", "/etc/ssh/ssh_config", "/etc/sudoers", "/etc/sysctl.conf", "/etc/systemd/journald.conf",
		"/etc/systemd/logind.conf", "/etc/systemd/resolved.conf", "/etc/systemd/system.conf", "/etc/systemd/timesyncd.conf", "/etc/systemd/networkd.conf",
	}
}

func checkForeignFile(p *lint.Pass) {
	shipped := shippedFiles()
	for _, w := range p.Files() {
		if w.Step.Inside || !slices.Contains(shipped, w.Path) {
			continue
		}
		if w.Step.Arg("replaces_foreign").Written() || w.Step.Arg("merge").Written() || w.Step.Arg("follow").Written() {
			continue
		}
		p.ReportStep(w.Step, w.At, "Systems ship %s, and a first run refuses to replace what it did not write. Write replaces_foreign = true, or use a drop-in directory.", w.Path)
	}
}
