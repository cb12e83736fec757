package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func imageDigest() *lint.Rule {
	return &lint.Rule{
		Name: "image-digest", Summary: "Image without a digest", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "A tag can be moved to another image by whoever may write to the registry. A digest cannot: it is checked over every byte.",
		Bad: `
require_capability "image" {
  image = «"registry.example/base:1.4.2"»
}
`,
		Good: `
require_capability "image" {
  image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
}
`,
		Check: checkImageDigest,
	}
}

func checkImageDigest(p *lint.Pass) {
	images(p, func(s *eval.Inspected, arg eval.Arg, ref string) {
		tag, digest := tagOf(ref)
		if !digest && tag != "" && tag != "latest" && tag != "edge" && tag != "nightly" && tag != "main" && tag != "master" && tag != "dev" {
			p.ReportStep(s, arg.Range, "%q can be moved to another image. Add its digest: %s@sha256:….", ref, ref)
		}
	})
}
