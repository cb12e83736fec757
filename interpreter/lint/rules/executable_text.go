package rules

import (
	"strings"
	"unicode/utf8"

	"hostler/interpreter/lint"
)

func executableText() *lint.Rule {
	return &lint.Rule{
		Name: "executable-text", Summary: "No interpreter named", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "The mode says that the file is run, and its text does not begin with `#!` and an interpreter. The kernel refuses to run it (\"exec\n" +
			"format error\"); only a shell guesses. A configuration file needs no execute bits.",
		Bad: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  mode    = «"0755"»
  content = "exit 0\n"
}
`,
		Good: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Check: checkExecutableText,
	}
}

func checkExecutableText(p *lint.Pass) {
	for _, w := range p.Files() {
		mode, ok := w.Mode()
		text, known := w.Text()
		if !ok || !known || mode&0o111 == 0 || text.Text == "" || strings.HasPrefix(text.Text, "#!") || strings.HasPrefix(text.Text, string(lint.Hole)) {
			continue
		}
		if !utf8.ValidString(text.Text) || strings.ContainsRune(text.Text, 0) {
			continue
		}
		p.ReportStep(w.Step, w.Step.Arg("mode").Range, "%s is executable text without a first line such as #!/bin/sh. Write one, or a mode without execute bits.", w.Path)
	}
}
