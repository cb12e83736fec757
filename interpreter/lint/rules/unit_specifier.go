package rules

import (
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitSpecifier() *lint.Rule {
	return &lint.Rule{
		Name: "unit-specifier", Summary: "Percent sign in unit", Severity: lint.Error, Profile: lint.Basic,
		Doc: "`%` begins a specifier: `%i` is the instance, `%m` the machine id, `%d` the directory of credentials. One that systemd does not know\n" +
			"makes it refuse the line, and in a date format such as `+%Y-%m-%d` it puts in something else. `%%` stands for one percent sign.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/bin/demo --stamp «+%F»
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/bin/demo --stamp +%%F
  EOT
}
`,
		Check: checkUnitSpecifier,
	}
}

func checkUnitSpecifier(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			if l.Key == "Description" || l.Key == "Documentation" || l.Key == "CPUQuota" || strings.HasSuffix(l.Key, "Percent") {
				continue
			}
			if since, ok := unitfile.Known(l.Section, l.Key); !ok || since < 0 || percentage(l) {
				continue
			}
			for _, s := range unitfile.Specifiers(l.Value) {
				word := wordAt(l.Value, s.At)
				switch {
				case strings.HasPrefix(strings.Trim(word, `"'`), "+%"):
					p.ReportStep(u.Step, l.Find(word), "systemd replaces the specifiers in %s before the program sees them. Double the percent signs: %s.", word, unitfile.EscapeSpecifiers(word))
				case !unitfile.KnownSpecifier(s.Letter):
					p.ReportStep(u.Step, l.Find(word), "There is no specifier %%%s, and systemd refuses the line. Double the percent sign to write one.", letter(s.Letter))
				default:
					continue
				}
				break
			}
		}
	}
}

func letter(b byte) string {
	if b == 0 {
		return ""
	}
	return string(rune(b))
}

// percentage says that the value is one, as in MemoryMax=50%.
func percentage(l lint.Line) bool {
	digits := strings.TrimRight(l.Value, "%")
	return digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// wordAt is the word of a value around an offset.
func wordAt(value string, at int) string {
	from := strings.LastIndexAny(value[:at], " \t") + 1
	to := len(value)
	if n := strings.IndexAny(value[at:], " \t"); n >= 0 {
		to = at + n
	}
	return value[from:to]
}
