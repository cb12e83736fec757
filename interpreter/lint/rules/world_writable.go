package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func worldWritable() *lint.Rule {
	return &lint.Rule{
		Name: "world-writable", Summary: "Everybody may write", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "With the last digit 2, 3, 6 or 7 every user of the host may change the file, or put other files in the place of those in the\n" +
			"directory. A shared directory has the sticky bit, as `/tmp` has: `\"1777\"` is written `\"01777\"`.",
		Bad: `
directory "spool" {
  path = "/var/spool/demo"
  mode = «"0777"»
}
`,
		Good: `
directory "spool" {
  path = "/var/spool/demo"
  mode = "01777"
}
`,
		Check: checkWorldWritable,
	}
}

func checkWorldWritable(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, a *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Name != "mode" {
			return
		}
		mode, ok := lint.ModeOf(a)
		if !ok || mode&0o002 == 0 || s.Type.Name == "directory" && mode&0o1000 != 0 {
			return
		}
		p.ReportStep(s, arg.Range, "Every user of the host may write here. Take the write bit of others away, for example \"%#04o\".", mode&^0o002)
	})
}
