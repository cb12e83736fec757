package eval

import (
	"bytes"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// mutations change a text a little; most results are still nearly a recipe.
func mutations() []func(r *rand.Rand, text []byte, other []byte) []byte {
	splice := func(text []byte, from, to int, with []byte) []byte {
		return append(append(bytes.Clone(text[:from]), with...), text[to:]...)
	}
	span := func(r *rand.Rand, text []byte, most int) (int, int) {
		from := r.Intn(len(text))
		return from, min(len(text), from+1+r.Intn(most))
	}
	words := []string{
		"null", "each.key", "each.value", "self.name", "var.token", "local.a", "host.kernel", "host", "var", "[]", "{}", "\"\"", "true", "-1", "1e99",
		"for_each = var.token", "when = null", "sensitive(null)", "toset([\"a\"])", "[for k in var.token : k]", "{ for k, v in host : k => v }", "...", "${", "[\"x\"]", ".x",
		"write_file_if_changed.a", "use.base", "nspawn_machine.m", "sensitive = true", "type = any", "type = map(any)", "optional(string)", "sensitive([1, \"a\"])[0]",
	}
	return []func(*rand.Rand, []byte, []byte) []byte{
		func(r *rand.Rand, text, _ []byte) []byte {
			from, to := span(r, text, 12)
			return splice(text, from, to, nil)
		},
		func(r *rand.Rand, text, _ []byte) []byte {
			from, to := span(r, text, 3)
			return splice(text, from, to, []byte(words[r.Intn(len(words))]))
		},
		func(r *rand.Rand, text, _ []byte) []byte { return replaceValue(r, text, words[r.Intn(len(words))]) },
		func(r *rand.Rand, text, other []byte) []byte {
			lines := bytes.SplitAfter(other, []byte("\n"))
			from := r.Intn(len(text))
			return splice(text, from, from, lines[r.Intn(len(lines))])
		},
		func(r *rand.Rand, text, other []byte) []byte {
			lines := bytes.SplitAfter(text, []byte("\n"))
			i, j := r.Intn(len(lines)), r.Intn(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
			return bytes.Join(lines, nil)
		},
	}
}

// replaceValue puts a word where the value of an argument stands.
func replaceValue(r *rand.Rand, text []byte, word string) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	var args []int
	for i, line := range lines {
		if strings.Contains(line, " = ") {
			args = append(args, i)
		}
	}
	if len(args) == 0 {
		return text
	}
	i := args[r.Intn(len(args))]
	name, _, _ := strings.Cut(lines[i], " = ")
	lines[i] = name + " = " + word + "\n"
	return []byte(strings.Join(lines, ""))
}

// TestMutatedRecipes holds Load, Inputs, Validate, Evaluate and Fingerprint to
// the promise that no text makes them panic, and that no secret shows in what
// they say.
func TestMutatedRecipes(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(specDir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	all := mutations()
	for seed, name := range names {
		r := rand.New(rand.NewSource(int64(seed)))
		other := readCase(t, names[r.Intn(len(names))]).files["tree/recipe.hcl"].Data
		for range rounds {
			c := readCase(t, name)
			text := c.files["tree/recipe.hcl"].Data
			for range 1 + r.Intn(4) {
				if len(text) > 0 {
					text = all[r.Intn(len(all))](r, text, other)
				}
			}
			c.files["tree/recipe.hcl"] = &fstest.MapFile{Data: text}
			c.tryAll(t, name, text)
		}
	}
}

// tryAll runs everything on a recipe, whatever faults it has.
func (c *specCase) tryAll(t *testing.T, name string, text []byte) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: panic: %v\n%s", name, p, text)
		}
	}()
	loader := StandardLoader{Shipped: func(string) (Source, error) { return c.source(), nil }}
	rec, diags := Load(c.source(), testVocabulary(), loader, "")
	in, more := rec.Inputs(c.given)
	diags = append(append(diags, more...), rec.Validate(in)...)
	_, more = rec.Fingerprint(in, "/opt")
	diags = append(diags, more...)
	for _, offline := range []string{"", "yes"} {
		c.options["offline"] = offline
		program, more := rec.Evaluate(in, c.environment())
		diags = append(diags, more...)
		for _, p := range program.Steps {
			noSecret(t, text, name, string(p.Data)+p.Deferred)
		}
	}
	noSecret(t, text, name, diagnosticsText(diags))
}

const canary = "hunter2"

func noSecret(t *testing.T, text []byte, name, said string) {
	if strings.Contains(said, canary) && !bytes.Contains(text, []byte(canary)) {
		t.Errorf("%s: a secret shows in %s\n%s", name, said, text)
	}
}
