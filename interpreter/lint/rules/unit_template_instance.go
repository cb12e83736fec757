package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func unitTemplateInstance() *lint.Rule {
	return &lint.Rule{
		Name: "unit-template-instance", Summary: "Instance name needed", Severity: lint.Error, Profile: lint.Basic,
		Doc: "A template such as `demo@.service` is no unit by itself. It can be enabled only if its `[Install]` has `DefaultInstance=`, and never\n" +
			"started; name an instance: `demo@a.service`.",
		Bad: `
systemd_unit "demo@.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo %i

    [Install]
    WantedBy=multi-user.target
  EOT
  enable  = «true»
}
`,
		Good: `
systemd_unit "demo@.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo %i

    [Install]
    WantedBy=multi-user.target
  EOT
}

systemd_unit "demo@a.service" {
  enable = true
}
`,
		Check: checkUnitTemplateInstance,
	}
}

func checkUnitTemplateInstance(p *lint.Pass) {
	for _, u := range p.Units() {
		if !u.Name.Template {
			continue
		}
		instance := u.Name.Of("a").String()
		if state := u.Step.Arg("state"); state.Written() && state.Schema != nil {
			p.Claim(lint.Found(u.Step, state.Range, "%s is a template, which does not run. Name an instance, for example %s.", u.Text, instance), "State of a template")
		}
		enable := u.Step.Arg("enable")
		if on, _ := enable.Bool(); !on {
			continue
		}
		if _, has := u.Last("Install", "DefaultInstance"); has {
			continue
		}
		reportTemplate(p, u, enable, instance)
	}
}

// reportTemplate is certain where the recipe has the unit file; another one may
// have a default instance.
func reportTemplate(p *lint.Pass, u *lint.Unit, enable eval.Arg, instance string) {
	if !u.Own {
		p.Warn(lint.Found(u.Step, enable.Range, "%s is a template; without DefaultInstance= in its file it cannot be enabled. Name an instance, for example %s.", u.Text, instance))
		return
	}
	if u.Closed() && len(u.Words("Install", "WantedBy"))+len(u.Words("Install", "RequiredBy"))+len(u.Words("Install", "UpheldBy")) > 0 {
		p.Claim(lint.Found(u.Step, enable.Range, "%s is a template without DefaultInstance=, so there is nothing to enable. Name an instance, for example %s.", u.Text, instance), "Instance name needed")
	}
}
