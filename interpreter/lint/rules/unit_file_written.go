package rules

import (
	"path"
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitFileWritten() *lint.Rule {
	return &lint.Rule{
		Name: "unit-file-written", Summary: "Unit written as file", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "A plain file in `/etc/systemd/system` is not read by systemd before it is told to: the old unit goes on. `systemd_unit` writes the\n" +
			"same file or drop-in, reloads the manager, and knows enabling and reset.",
		Bad: `
write_file_if_changed "demo" {
  path    = «"/etc/systemd/system/demo.service"»
  content = "[Service]\nExecStart=/usr/bin/demo\n"
}
`,
		Good: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
}
`,
		Check: checkUnitFileWritten,
	}
}

func checkUnitFileWritten(p *lint.Pass) {
	for _, w := range p.Files() {
		dir := path.Dir(w.Path)
		switch {
		case dir == unitfile.EtcDir && unitfile.IsType(strings.TrimPrefix(path.Ext(w.Path), ".")):
			p.ReportStep(w.Step, w.At, "systemd is not told of the file. Write systemd_unit %q { content = … }.", w.Base())
		case path.Dir(dir) == unitfile.EtcDir && strings.HasSuffix(dir, ".d") && strings.HasSuffix(w.Path, ".conf"):
			p.ReportStep(w.Step, w.At, "systemd is not told of the drop-in. Write systemd_unit %q { drop_in %q { content = … } }.", strings.TrimSuffix(path.Base(dir), ".d"), w.Base())
		}
	}
}
