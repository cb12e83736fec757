package rules

import (
	"hostler/interpreter/lint"
	"hostler/interpreter/thing"
)

func ownedOverlap() *lint.Rule {
	return &lint.Rule{
		Name: "owned-overlap", Summary: "Inside what another owns", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The path lies in a tree that another step owns as a whole: the root of a machine, which a repave replaces; a path that is to be\n" +
			"absent; or below a symbolic link, which leads elsewhere. Files of a machine are written in its `before_boot` or `after_boot`.",
		Bad: `
absent "old" {
  path = "/etc/demo"
}

write_file_if_changed "a" {
  path    = «"/etc/demo/a"»
  content = "a\n"
}
`,
		Good: `
absent "old" {
  path = "/etc/demo/old"
}

write_file_if_changed "a" {
  path    = "/etc/demo/a"
  content = "a\n"
}
`,
		Check: checkOwnedOverlap,
	}
}

func checkOwnedOverlap(p *lint.Pass) {
	var removers []*lint.Written
	for _, o := range p.Written() {
		if name := o.Step.Type.Name; name == "absent" || name == "symlink" {
			removers = append(removers, o)
		}
	}
	for _, w := range p.Written() {
		for _, o := range removers {
			if o.Step == w.Step || !lint.SamePlace(o.Step, w.Step) || !lint.Below(w.Path, o.Path) || o.Step.Off || w.Step.Off {
				continue
			}
			switch o.Step.Type.Name {
			case "absent":
				p.ReportStep(w.Step, w.At, "%s at line %d removes %s with everything in it. Name there what is to go, and keep this.", o.Step.Address, o.Step.Header.Start.Line, o.Path)
			case "symlink":
				p.ReportStep(w.Step, w.At, "%s at line %d makes %s a symbolic link. Write the path that it leads to.", o.Step.Address, o.Step.Header.Start.Line, o.Path)
			}
		}
		if !w.Step.Inside {
			inMachine(p, w)
		}
	}
}

// inMachine reports a step on the host that writes into a machine of the
// recipe.
func inMachine(p *lint.Pass, w *lint.Written) {
	for _, m := range p.Steps("nspawn_machine") {
		if root := "/var/lib/machines/" + m.Name(); lint.Below(w.Path, root) {
			p.ReportStep(w.Step, w.At, "%s owns the tree of the machine %s and builds it anew. Write this in its before_boot block, with the path as the machine sees it.", m.Address, m.Name())
		}
		if w.Path == "/etc/systemd/nspawn/"+m.Name()+".nspawn" {
			p.ReportStep(w.Step, w.At, "%s writes this file itself. Write its directives in settings.", m.Address)
		}
		if lint.Below(w.Path, "/etc/systemd/system/"+thing.MachineUnit(m.Name())+".d") && len(m.Blocks("service")) > 0 {
			p.ReportStep(w.Step, w.At, "%s writes a drop-in for its unit. Write the directives in service.", m.Address)
		}
	}
}
