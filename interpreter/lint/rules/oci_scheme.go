package rules

import (
	"regexp"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func ociScheme() *lint.Rule {
	return &lint.Rule{
		Name: "oci-scheme", Summary: "No oci:// here", Severity: lint.Error, Profile: lint.Basic,
		Doc: "Ignition fetches `http`, `https`, `tftp`, `s3`, `gs` and `data` only: with `oci://` in a configuration it fails in the initramfs, and the\n" +
			"host does not come up. The image of a machine is named without a scheme: `registry.example/name@sha256:…`.",
		Bad: `
write_file_if_changed "config" {
  path    = "/var/lib/site/config.ign"
  content = <<-EOT
    {
      "ignition": { "version": "3.4.0" },
      "storage": { "files": [
        { "path": "/opt/hostler", "contents": { "source": "«oci://»registry.example/hostler" } }
      ] }
    }
  EOT
}
`,
		Good: `
write_file_if_changed "config" {
  path    = "/var/lib/site/config.ign"
  content = <<-EOT
    {
      "ignition": { "version": "3.4.0" },
      "storage": { "files": [
        { "path": "/opt/hostler", "contents": { "source": "https://files.example/hostler" } }
      ] }
    }
  EOT
}
`,
		Check: checkOCIScheme,
	}
}

func checkOCIScheme(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, _ *eval.Arguments, arg eval.Arg) {
		text, _ := arg.Text()
		if arg.Schema.Name != "content" && strings.HasPrefix(text, "oci://") {
			f := lint.Found(s, arg.Range, "Nothing here is fetched by oci://. Write the image's name in its registry without a scheme: %q.", strings.TrimPrefix(text, "oci://"))
			p.Claim(f, "Invalid image", "Invalid value")
		}
	})
	ignition := regexp.MustCompile(`"ignition"\s*:`)
	for _, w := range p.Files() {
		text, ok := w.Text()
		if !ok || !strings.HasSuffix(w.Path, ".ign") && !ignition.MatchString(text.Text) {
			continue
		}
		for at := 0; ; {
			n := strings.Index(text.Text[at:], "oci://")
			if n < 0 {
				break
			}
			p.ReportStep(w.Step, text.Range(at+n, at+n+len("oci://")), "Ignition knows no oci://, and the host would not come up. Write an https:// address and the hash of the file.")
			at += n + 1
		}
	}
}
