package lint

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/syntax"
)

// ConfigFile is the name of the file that configures the linter for the
// recipes in its directory and below.
const ConfigFile = ".hostler-lint.hcl"

// Config says which rules are checked and how much they weigh.
type Config struct {
	Profile Profile
	// Minimum is the least severity that is reported.
	Minimum  Severity
	settings map[string]setting
	exclude  []string
	rules    []*Rule
}

// setting is what a configuration says about one rule.
type setting struct {
	enabled  *bool
	severity *Severity
}

// DefaultConfig is what holds without a configuration file.
func DefaultConfig(rules []*Rule) Config { return Config{Profile: Safe, rules: rules} }

func (c Config) enabled(r *Rule) bool {
	if s := c.settings[r.Name]; s.enabled != nil {
		return *s.enabled
	}
	return r.Profile <= c.Profile
}

// off says whether a rule of that name is not checked.
func (c Config) off(name string) bool {
	for _, r := range c.rules {
		if r.Name == name {
			return !c.enabled(r)
		}
	}
	return false
}

// weigh gives a finding the severity that is configured.
func (c Config) weigh(f Finding) Finding {
	if s := c.settings[f.Rule]; s.severity != nil && f.Rule != ruleValidate {
		f.Severity = *s.severity
	}
	return f
}

// Excludes says whether a file, named relative to the configuration's
// directory, is not checked.
func (c Config) Excludes(name string) bool {
	name = filepath.ToSlash(name)
	return slices.ContainsFunc(c.exclude, func(pattern string) bool {
		return matchPath(strings.Split(pattern, "/"), strings.Split(name, "/"))
	})
}

// matchPath matches a path by its parts; "**" stands for any number of them. A
// pattern that matches a directory matches everything in it.
func matchPath(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		return matchPath(pattern[1:], name) || len(name) > 0 && matchPath(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && matchPath(pattern[1:], name[1:])
}

// ParseConfig reads a configuration file.
func ParseConfig(name string, src []byte, rules []*Rule) (Config, hcl.Diagnostics) {
	file, diags := syntax.Parse(name, src)
	if diags.HasErrors() {
		return Config{}, diags
	}
	r := &configReader{config: DefaultConfig(rules)}
	r.config.settings = map[string]setting{}
	for _, a := range syntax.Attributes(file.Body) {
		r.attribute(a)
	}
	for _, b := range file.Body.Blocks {
		if b.Type != "rule" || len(b.Labels) != 1 {
			r.fault(b.DefRange(), "Unknown block", `Write rule "NAME" { severity = "warning" }.`)
			continue
		}
		r.rule(b)
	}
	return r.config, r.diags
}

type configReader struct {
	config Config
	diags  hcl.Diagnostics
}

func (r *configReader) fault(at hcl.Range, summary, detail string) {
	r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

func (r *configReader) attribute(a *hclsyntax.Attribute) {
	var err error
	switch a.Name {
	case "profile":
		r.config.Profile, err = ParseProfile(r.text(a))
	case "minimum_severity":
		r.config.Minimum, err = ParseSeverity(r.text(a))
	case "exclude":
		r.config.exclude, err = patterns(a.Expr)
	default:
		r.unknown(a, "profile", "minimum_severity", "exclude")
	}
	if err != nil {
		r.fault(a.Expr.Range(), "Invalid value", sentence(err))
	}
}

func (r *configReader) unknown(a *hclsyntax.Attribute, names ...string) {
	hint := ""
	if near := syntax.Suggest(a.Name, names); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	r.fault(a.NameRange, "Unknown argument", fmt.Sprintf("There is no argument %q; write one of %s.%s", a.Name, strings.Join(names, ", "), hint))
}

func (r *configReader) text(a *hclsyntax.Attribute) string {
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || !isString(v) {
		return ""
	}
	return v.AsString()
}

func patterns(expr hclsyntax.Expression) ([]string, error) {
	v, diags := expr.Value(nil)
	if diags.HasErrors() || !v.CanIterateElements() {
		return nil, fmt.Errorf(`write a list of paths, for example ["testdata/**"]`)
	}
	var list []string
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if !isString(e) {
			return nil, fmt.Errorf("a path is a string in double quotes")
		}
		if _, err := path.Match(e.AsString(), ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: a bracket is not closed", e.AsString())
		}
		list = append(list, strings.TrimPrefix(e.AsString(), "./"))
	}
	return list, nil
}

func (r *configReader) rule(b *hclsyntax.Block) {
	name := b.Labels[0]
	var names []string
	for _, known := range r.config.rules {
		names = append(names, known.Name)
	}
	if !slices.Contains(names, name) {
		hint := ""
		if near := syntax.Suggest(name, names); near != "" {
			hint = fmt.Sprintf(" Did you mean %q?", near)
		}
		r.fault(b.LabelRanges[0], "Unknown rule", fmt.Sprintf("There is no rule %q.%s", name, hint))
		return
	}
	s := setting{}
	for _, a := range syntax.Attributes(b.Body) {
		r.setting(&s, a)
	}
	if name == ruleValidate && s.enabled != nil && !*s.enabled {
		r.fault(b.DefRange(), "Cannot be switched off", "An invalid recipe cannot be run, so what validation finds is always reported.")
	}
	r.config.settings[name] = s
}

func (r *configReader) setting(s *setting, a *hclsyntax.Attribute) {
	switch a.Name {
	case "enabled":
		v, diags := a.Expr.Value(nil)
		if diags.HasErrors() || v.Type() != cty.Bool || v.IsNull() {
			r.fault(a.Expr.Range(), "Invalid value", "Write true or false.")
			return
		}
		on := v.True()
		s.enabled = &on
	case "severity":
		severity, err := ParseSeverity(r.text(a))
		if err != nil {
			r.fault(a.Expr.Range(), "Invalid value", sentence(err))
			return
		}
		s.severity = &severity
	default:
		r.unknown(a, "enabled", "severity")
	}
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
