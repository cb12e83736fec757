package rules

import (
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func imageTag() *lint.Rule {
	return &lint.Rule{
		Name: "image-tag", Summary: "Image that moves", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`latest`, or no tag at all, is another image tomorrow: two hosts of one recipe differ, and a rebuilt machine is not the one that was\n" +
			"tested. Name a version, or a digest with `@sha256:`.",
		Bad: `
require_capability "image" {
  image = «"registry.example/base:latest"»
}
`,
		Good: `
require_capability "image" {
  image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
}
`,
		Check: checkImageTag,
	}
}

// images visits the known references of images in registries.
func images(p *lint.Pass, visit func(s *eval.Inspected, arg eval.Arg, ref string)) {
	p.EachArg(func(s *eval.Inspected, _ *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Name != "image" {
			return
		}
		ref, ok := arg.Text()
		if ok && !strings.Contains(ref, "://") && !strings.HasPrefix(ref, "oci-layout:") && !strings.HasPrefix(ref, "/") {
			visit(s, arg, ref)
		}
	})
}

// tagOf is the tag of a reference, "" when it has none, and whether it has a
// digest.
func tagOf(ref string) (tag string, digest bool) {
	name, _, digest := strings.Cut(ref, "@")
	last := name[strings.LastIndexByte(name, '/')+1:]
	_, tag, _ = strings.Cut(last, ":")
	return tag, digest
}

func checkImageTag(p *lint.Pass) {
	images(p, func(s *eval.Inspected, arg eval.Arg, ref string) {
		tag, digest := tagOf(ref)
		switch {
		case digest:
		case tag == "":
			f := lint.Found(s, arg.Range, "%q has neither tag nor digest, which means latest: another image tomorrow. Name a version, or a digest with @sha256:.", ref)
			p.Claim(f, "Invalid value", "Invalid image")
		case tag == "latest" || tag == "edge" || tag == "nightly" || tag == "main" || tag == "master" || tag == "dev":
			p.ReportStep(s, arg.Range, "The tag %q is another image tomorrow. Name a version, or a digest with @sha256:.", tag)
		}
	})
}
