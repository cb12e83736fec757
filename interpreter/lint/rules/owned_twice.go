package rules

import (
	"hostler/interpreter/lint"
)

func ownedTwice() *lint.Rule {
	return &lint.Rule{
		Name: "owned-twice", Summary: "Owned by two steps", Severity: lint.Error, Profile: lint.Basic,
		Doc: "No two steps own one thing: each would undo what the other writes, and a reset could not tell what was there before. Put them\n" +
			"together, or switch between them with `when` in one step's arguments.",
		Bad: `
write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  content = "a\n"
}

write_file_if_changed "b" {
  path    = «"/etc/demo.conf"»
  content = "b\n"
}
`,
		Good: `
write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  content = "a\nb\n"
}
`,
		Check: checkOwnedTwice,
	}
}

func checkOwnedTwice(p *lint.Pass) {
	type place struct{ machine, path string }
	first := map[place]*lint.Written{}
	for _, w := range p.Written() {
		at := place{path: w.Path}
		if w.Step.Inside {
			at.machine = w.Step.Machine
		}
		had := first[at]
		switch {
		case had == nil:
			first[at] = w
		case had.Step.Header != w.Step.Header && !w.Step.Off && !had.Step.Off && w.Step.Common("when") == nil && had.Step.Common("when") == nil:
			p.Claim(lint.Found(w.Step, w.At, "%s at line %d owns %s already. Put the two together, or give one another path.", had.Step.Address, had.Step.Header.Start.Line, w.Path), "Owned twice")
		}
	}
}
