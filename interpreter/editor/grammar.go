package editor

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
)

// grammar is what may be written where, in the words of the vocabulary.
type grammar struct {
	vocab     block.Vocabulary
	functions map[string]function.Function
	facts     map[string]string
}

func newGrammar(vocab block.Vocabulary) *grammar {
	return &grammar{vocab: vocab, functions: eval.Functions(vocab), facts: eval.FactNames()}
}

// body is what the body of a block may hold.
type body struct {
	doc    string
	attrs  []block.Attr
	blocks []block.Nested
	// steps are the types of steps that may stand in it.
	steps []*block.Type
	// typ is the type of the step that it is the body of, nil for others.
	typ *block.Type
}

func (b body) attr(name string) *block.Attr {
	for i := range b.attrs {
		if b.attrs[i].Name == name {
			return &b.attrs[i]
		}
	}
	return nil
}

func (b body) block(name string) *block.Nested {
	for i := range b.blocks {
		if b.blocks[i].Name == name {
			return &b.blocks[i]
		}
	}
	return nil
}

// of is what the body of a block may hold; ok is false for one that is not in
// the language.
func (g *grammar) of(n *node) (b body, ok bool) {
	if n.parent == nil {
		return body{blocks: topBlocks(), steps: g.vocab.Types}, true
	}
	outer, ok := g.of(n.parent)
	if !ok {
		return body{}, false
	}
	if t := g.vocab.Type(n.kind); t != nil && outer.steps != nil {
		return g.step(t), true
	}
	kind := outer.block(n.kind)
	if kind == nil {
		return body{}, false
	}
	b = body{doc: kind.Doc, attrs: kind.Schema.Attrs, blocks: kind.Schema.Blocks}
	if kind.Steps {
		b.steps = g.nested(outer, n)
	}
	if kind.Steps && n.kind != "stage" {
		b.blocks = append(b.blocks[:len(b.blocks):len(b.blocks)], stageBlock())
	}
	return b, true
}

func (g *grammar) step(t *block.Type) body {
	b := body{doc: t.Doc.Summary, typ: t, attrs: t.Schema.Attrs, blocks: t.Schema.Blocks}
	b.attrs = b.attrs[:len(b.attrs):len(b.attrs)]
	for _, a := range commonAttrs() {
		if b.attr(a.Name) == nil {
			b.attrs = append(b.attrs, a)
		}
	}
	if len(t.Retryable) > 0 && b.block("retry") == nil {
		b.blocks = append(b.blocks[:len(b.blocks):len(b.blocks)], retryBlock())
	}
	return b
}

// nested are the types that may stand in the block n, a phase of a step.
func (g *grammar) nested(outer body, n *node) (types []*block.Type) {
	if outer.typ == nil {
		return outer.steps
	}
	for _, phase := range outer.typ.Phases {
		if phase.Name != n.kind {
			continue
		}
		for _, t := range g.vocab.Types {
			if !holdsSteps(t) && !(phase.Inside && t.HostOnly) && !(phase.AtRest && t.Runs) {
				types = append(types, t)
			}
		}
	}
	return types
}

// holdsSteps says that steps are nested in a type.
func holdsSteps(t *block.Type) bool {
	for _, p := range t.Phases {
		if p.Steps {
			return true
		}
	}
	return false
}

func textAttr(name, doc string) block.Attr { return block.Attr{Name: name, Type: cty.String, Doc: doc} }

func required(a block.Attr) block.Attr {
	a.Required = true
	return a
}

// Words is the grammar around the steps: the blocks at the top level, and what
// every step accepts, arguments and blocks.
func Words() (top []block.Nested, step block.Schema) {
	return topBlocks(), block.Schema{Attrs: commonAttrs(), Blocks: []block.Nested{retryBlock()}}
}

// commonAttrs are the arguments that every step accepts.
func commonAttrs() []block.Attr {
	return []block.Attr{
		{Name: "when", Type: cty.Bool, Doc: "Whether the step is there. One that is off is as if it were not written: what it owned is pruned."},
		{Name: "for_each", Type: cty.DynamicPseudoType, Doc: "A list of unique strings, a set or a map: one instance for each, which reads `each.key` and `each.value`. Owned names must contain `each`."},
		{Name: "timeout", Type: cty.String, Grammar: "duration", Doc: "Bounds the whole step."},
		{Name: "on_drift", Type: cty.String, OneOf: []string{"repair", "report", "hold"}, Doc: "What to do when the host was changed behind our back: put it right (the default), leave it and warn, or leave it and stop before later steps."},
		textAttr("description", "Shown in plans."),
		textAttr("failure_reason", "The class that a failure of the step is reported as, one word such as `KubeletBootstrapFailed`."),
	}
}

func retryBlock() block.Nested {
	return block.Nested{Name: "retry", Doc: "Tries again after faults that pass by themselves, with exponential back-off.", Max: 1, Schema: block.Schema{Attrs: []block.Attr{
		{Name: "attempts", Type: cty.Number, Required: true, Doc: "How often to try, at most."},
		{Name: "delay", Type: cty.String, Grammar: "duration", Doc: "How long to wait before the second try; doubles each time."},
		{Name: "max_delay", Type: cty.String, Grammar: "duration", Doc: "The longest wait."},
	}}}
}

func stageBlock() block.Nested {
	return block.Nested{Name: "stage", Labels: []string{"label"}, Steps: true, Doc: "Groups steps. Its name is what status, logs and failure reasons show.", Schema: block.Schema{Attrs: []block.Attr{
		textAttr("description", "What the stage brings about."),
		{Name: "when", Type: cty.Bool, Doc: "Whether its steps are there."},
	}}}
}

// topBlocks are the blocks at the top level that are no steps.
func topBlocks() []block.Nested {
	return []block.Nested{
		{Name: "recipe", Labels: []string{"name"}, Min: 1, Max: 1, Doc: "Says what the recipe is, which hosts it supports, and what makes an installation this installation.", Schema: block.Schema{
			Attrs: []block.Attr{
				required(block.Attr{Name: "language", Type: cty.Number, Doc: "The version of the language: 1."}),
				required(textAttr("version", "The semantic version of the recipe, for example `\"1.2.0\"`.")),
				textAttr("description", "What the recipe is for, in a sentence."),
				textAttr("interpreter", "Which interpreters may run it, for example `\">= 0.1.0\"`."),
				textAttr("fingerprint", "`fingerprint({ … })` of what makes this installation this installation: with another value it is refused until it is reset. Reads variables only."),
			},
			Blocks: []block.Nested{{Name: "supports", Labels: []string{"name"}, Min: 1, Doc: "A kind of host that the recipe supports. A host that matches none is refused.", Schema: block.Schema{Attrs: []block.Attr{
				textAttr("id", "`ID` of os-release(5), for example `\"debian\"`."),
				textAttr("id_like", "A word of `ID_LIKE` of os-release(5), for example `\"flatcar\"`."),
				textAttr("variant_id", "`VARIANT_ID` of os-release(5)."),
				textAttr("version_id", "A constraint for `VERSION_ID`, for example `\">= 12, < 14\"`."),
				textAttr("default_prefix", "The install prefix on such hosts; `--prefix` is stronger."),
			}}}},
		}},
		{Name: "variable", Labels: []string{"name"}, Doc: "An input, read as `var.NAME`.", Schema: block.Schema{
			Attrs: []block.Attr{
				{Name: "type", Type: cty.DynamicPseudoType, Doc: "`string`, `number`, `bool`, `list(…)`, `set(…)`, `map(…)` or `object({ a = string, b = optional(number, 1) })`."},
				{Name: "default", Type: cty.DynamicPseudoType, Doc: "The value when none is given; without one a value is required."},
				textAttr("description", "What to give."),
				{Name: "sensitive", Type: cty.Bool, Doc: "The value is never shown or stored."},
				{Name: "nullable", Type: cty.Bool, Doc: "Whether null may be given."},
			},
			Blocks: []block.Nested{{Name: "validation", Doc: "A rule for the value.", Schema: block.Schema{Attrs: []block.Attr{
				required(block.Attr{Name: "condition", Type: cty.Bool, Doc: "True for values that are right."}),
				required(textAttr("error_message", "What to give instead.")),
			}}}},
		}},
		{Name: "locals", Doc: "Named values, read as `local.NAME`, in any order."},
		{Name: "output", Labels: []string{"name"}, Doc: "A value for whoever runs or uses the recipe.", Schema: block.Schema{Attrs: []block.Attr{
			required(block.Attr{Name: "value", Type: cty.DynamicPseudoType, Doc: "The value."}), textAttr("description", "What it is."),
			{Name: "sensitive", Type: cty.Bool, Doc: "The value is never shown."},
		}}},
		{Name: "use", Labels: []string{"label"}, Doc: "Runs another recipe's steps at this place. Its outputs are `use.LABEL.NAME`.", Schema: block.Schema{Attrs: []block.Attr{
			required(textAttr("source", "A relative path such as `\"../base\"`, or `\"recipe:NAME\"` for one that is shipped.")),
			textAttr("version", "A constraint for its version."),
			{Name: "inputs", Type: cty.DynamicPseudoType, Doc: "Values for its variables: `{ name = … }`."},
			{Name: "when", Type: cty.Bool, Doc: "Whether its steps are there."},
		}}},
		stageBlock(),
	}
}
