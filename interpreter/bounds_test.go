package interpreter_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hostler/builtins"
	"hostler/interpreter/eval"
)

// doubling are locals that each hold the one before twice.
func doubling(first, next string) string {
	var b strings.Builder
	b.WriteString("locals {\n  a0 = " + first + "\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "  a%d = "+next+"\n", i, i-1, i-1)
	}
	b.WriteString("}\n")
	return b.String()
}

// TestEvaluationIsBounded: what would fill the memory or never end is a
// diagnostic, soon.
func TestEvaluationIsBounded(t *testing.T) {
	const file = "write_file_if_changed \"x\" {\n  path = \"/etc/x\"\n  content = %s\n}\n"
	long := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct{ body, want string }{
		"text that doubles":      {doubling(`"xx"`, `"${local.a%d}${local.a%d}"`), "Value too large"},
		"lists that double":      {doubling(`["x"]`, `concat(local.a%d, local.a%d)`), "Value too large"},
		"tuples that share":      {doubling(`["x"]`, `[local.a%d, local.a%d]`), "Value too large"},
		"objects that share":     {doubling(`"x"`, `{ b = local.a%d, c = local.a%d }`), "Value too large"},
		"loops in loops":         {"locals {\n a = [for i in range(1000) : [for j in range(1000) : [for k in range(1000) : k]]]\n}\n", "too large"},
		"loops that keep little": {"locals {\n a = length([for i in range(1000) : length([for j in range(1000) : length([for k in range(1000) : k])])])\n}\n", "too large"},
		"many copies in one":     {"locals {\n l = \"" + long + "\"\n m = \"" + strings.Repeat("${local.l}", 20_000) + "\"\n}\n", "too large"},
		"a loop in a template":   {"locals {\n l = \"" + long + "\"\n m = \"%{ for i in range(1000) }%{ for j in range(1000) }${local.l}%{ endfor }%{ endfor }\"\n}\n", "too large"},
		"a number":               {fmt.Sprintf(file, `"${1e99999999}"`), "three digits"},
		"a number in a call":     {fmt.Sprintf(file, `tostring(1e9999)`), "three digits"},
		"a number that grows":    {fmt.Sprintf(file, `tostring(pow(1e308, 2) * pow(1e308, 200))`), "number"},
		"aliases of YAML":        {"locals {\n y = yamldecode(<<-EOT\n" + aliases() + "  EOT\n  )\n}\n", "aliases"},
		"a default":              {"variable \"v\" {\n default = [for i in range(1000) : [for j in range(1000) : [for k in range(1000) : k]]]\n}\n", "too large"},
		"a validation":           {"variable \"v\" {\n default = 1\n validation {\n condition = length([for i in range(1000) : length([for j in range(1000) : length([for k in range(1000) : k])])]) > var.v\n error_message = \"x\"\n }\n}\n", "too large"},
		"a template":             {fmt.Sprintf(file, `templatestring("%%{ for a in l }%%{ for b in l }%%{ for c in l }$${c}%%{ endfor }%%{ endfor }%%{ endfor }", { l = range(1000) })`), "too large"},
		"replacing":              {"locals {\n l = \"" + long + "\"\n m = replace(local.l, \"x\", local.l)\n}\n", "larger than any value"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			fsys := fstest.MapFS{"recipe.hcl": {Data: []byte(text(tt.body))}}
			r, diags := eval.Load(eval.Tree("test:", fsys, "."), builtins.Vocabulary(), eval.StandardLoader{}, "")
			in, more := r.Inputs(nil)
			diags = append(append(diags, more...), r.Validate(in)...)
			runtime.ReadMemStats(&after)
			all := ""
			for _, d := range diags {
				all += d.Summary + ": " + d.Detail + "\n"
			}
			if !strings.Contains(all, tt.want) {
				t.Errorf("diagnostics %.500q, want %q", all, tt.want)
			}
			if took, made := time.Since(began), (after.TotalAlloc-before.TotalAlloc)>>20; took > 30*time.Second || made > 4096 {
				t.Errorf("it took %s and %d MiB", took, made)
			} else {
				t.Logf("%s, %d MiB", took.Round(time.Millisecond), made)
			}
		})
	}
}

func aliases() string {
	var b strings.Builder
	b.WriteString("    a0: &a0 [x, x, x, x]\n")
	for i := 1; i < 50; i++ {
		fmt.Fprintf(&b, "    a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}
