package rules

import (
	"path"
	"regexp"
	"strings"

	"hostler/interpreter/lint"
)

func ignoredFileName() *lint.Rule {
	return &lint.Rule{
		Name: "ignored-file-name", Summary: "File nobody reads", Severity: lint.Error, Profile: lint.Basic,
		Doc: "Programs read from their drop-in directories only files with the right kind of name, and pass over others without a word: `.conf` for\n" +
			"sysctl, modprobe, tmpfiles and most others, no dot at all for `/etc/cron.d` and `/etc/sudoers.d`.",
		Bad: `
write_file_if_changed "forward" {
  path    = «"/etc/sysctl.d/90-forward"»
  content = "net.ipv4.ip_forward = 1\n"
}
`,
		Good: `
write_file_if_changed "forward" {
  path    = "/etc/sysctl.d/90-forward.conf"
  content = "net.ipv4.ip_forward = 1\n"
}
`,
		Check: checkIgnoredFileName,
	}
}

// naming is how files of a directory are named to be read.
type naming struct {
	pattern, advice string
}

// namingOf is the naming in a directory; the pattern is "" for others.
func namingOf(dir string) naming {
	conf := naming{`\.conf$`, "End the name in .conf."}
	plain := naming{`^[^.~]+$`, "Write a name without a dot and without ~ at its end."}
	switch dir {
	case "/etc/sysctl.d", "/etc/modprobe.d", "/etc/modules-load.d", "/etc/tmpfiles.d", "/etc/sysusers.d", "/etc/binfmt.d", "/etc/ld.so.conf.d",
		"/etc/environment.d", "/etc/depmod.d", "/etc/ssh/sshd_config.d", "/etc/ssh/ssh_config.d", "/etc/dnsmasq.d", "/etc/fonts/conf.d",
		"/etc/NetworkManager/conf.d", "/etc/rsyslog.d", "/etc/needrestart/conf.d":
		return conf
	case "/etc/cron.d":
		return naming{`^[A-Za-z0-9_-]+$`, "Write a name of letters, digits, dashes and underscores, without a dot."}
	case "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly":
		return naming{`^[A-Za-z0-9_-]+$`, "Write a name of letters, digits, dashes and underscores, without .sh at its end."}
	case "/etc/sudoers.d":
		return plain
	case "/etc/apt/apt.conf.d":
		return naming{`^[A-Za-z0-9_-]+(\.conf)?$`, "Write a name without a dot, or one that ends in .conf."}
	case "/etc/apt/sources.list.d":
		return naming{`\.(list|sources)$`, "End the name in .list or .sources."}
	case "/etc/udev/rules.d", "/etc/polkit-1/rules.d":
		return naming{`\.rules$`, "End the name in .rules."}
	case "/etc/systemd/network":
		return naming{`\.(network|netdev|link)$`, "End the name in .network, .netdev or .link."}
	case "/etc/systemd/nspawn":
		return naming{`\.nspawn$`, "End the name in .nspawn."}
	case "/etc/profile.d":
		return naming{`\.(sh|csh|local)$`, "End the name in .sh."}
	case "/etc/yum.repos.d":
		return naming{`\.repo$`, "End the name in .repo."}
	}
	if strings.HasPrefix(dir, "/etc/systemd/") && strings.HasSuffix(dir, ".d") {
		return conf
	}
	return naming{}
}

func checkIgnoredFileName(p *lint.Pass) {
	for _, w := range p.Written() {
		kind := w.Step.Type.Name
		if kind == "directory" || kind == "absent" {
			continue
		}
		n := namingOf(path.Dir(w.Path))
		if n.pattern != "" && !regexp.MustCompile(n.pattern).MatchString(w.Base()) {
			p.ReportStep(w.Step, w.At, "Nothing reads a file of that name in %s. %s", path.Dir(w.Path), n.advice)
		}
	}
}
