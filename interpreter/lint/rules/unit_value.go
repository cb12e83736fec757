package rules

import (
	"slices"
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

func unitValue() *lint.Rule {
	return &lint.Rule{
		Name: "unit-value", Summary: "Value systemd ignores", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "The directive takes one of a few words, and this is none of them: systemd logs a message and acts as if the line were not there.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Restart=«onfailure»
    RestartSec=10s
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Restart=on-failure
    RestartSec=10s
  EOT
}
`,
		Check: checkUnitValue,
	}
}

// wordsOf are the values of directives that take one word, nil for others.
func wordsOf(section, key string) []string {
	switch section + "." + key {
	case "Service.Type":
		return []string{"simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"}
	case "Service.Restart":
		return []string{"no", "always", "on-success", "on-failure", "on-abnormal", "on-abort", "on-watchdog"}
	case "Service.KillMode":
		return []string{"control-group", "mixed", "process", "none"}
	case "Service.NotifyAccess":
		return []string{"none", "main", "exec", "all"}
	case "Service.OOMPolicy":
		return []string{"continue", "stop", "kill"}
	}
	if isSwitch(key) {
		return []string{"yes", "no", "true", "false", "on", "off", "1", "0", "y", "n", "t", "f"}
	}
	return nil
}

func isSwitch(key string) bool {
	return slices.Contains([]string{
		"RemainAfterExit", "DefaultDependencies", "RefuseManualStart", "RefuseManualStop", "StopWhenUnneeded", "Persistent", "WakeSystem",
		"Accept", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "DynamicUser", "SendSIGKILL", "SendSIGHUP", "GuessMainPID",
	}, key)
}

func checkUnitValue(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			known := wordsOf(l.Section, l.Key)
			if known == nil || !l.Known() || l.Value == "" || slices.Contains(known, strings.ToLower(l.Value)) && isSwitch(l.Key) || slices.Contains(known, l.Value) {
				continue
			}
			if l.Key == "PrivateTmp" && l.Value == "disconnected" || strings.Contains(l.Value, "%") {
				continue
			}
			f := lint.Found(u.Step, l.ValueRange(), "%s= takes %s; systemd ignores %q.", l.Key, strings.Join(known[:min(len(known), 8)], ", "), l.Value)
			if near := syntax.Suggest(l.Value, known); near != "" && len(near) > 1 {
				f.Detail += " Did you mean " + near + "?"
				if l.Part.Text.Editable(l.Directive.ValueRange.Start.Byte, l.Directive.ValueRange.End.Byte) {
					f = f.With(lint.Fix{Message: "write " + near, Edits: []lint.Edit{{Range: l.ValueRange(), Text: near}}, Changes: true})
				}
			}
			p.Report(f)
		}
	}
}
