package report

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Recipes is the document of recipes list.
type Recipes struct {
	FormatVersion string   `json:"format_version"`
	Recipes       []Recipe `json:"recipes"`
}

// Recipe is a recipe that is shipped.
type Recipe struct {
	Name        string `json:"name" doc:"as RECIPE is given"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

// RecipeDetail is the document of recipes show.
type RecipeDetail struct {
	FormatVersion string `json:"format_version"`
	Recipe
	Interpreter string          `json:"interpreter,omitempty" doc:"versions of hostler that may run it"`
	Supports    []RecipeSupport `json:"supports"`
	Inputs      []RecipeInput   `json:"inputs" doc:"in the order in which they are declared"`
	Outputs     []RecipeOutput  `json:"outputs"`
	Steps       []RecipeStep    `json:"steps" doc:"in the order in which they run; those that no input turns on are among them"`
}

// RecipeSupport is a kind of host that a recipe supports.
type RecipeSupport struct {
	Name          string `json:"name"`
	ID            string `json:"id,omitempty"`
	IDLike        string `json:"id_like,omitempty" doc:"a word of it"`
	VariantID     string `json:"variant_id,omitempty"`
	VersionID     string `json:"version_id,omitempty" doc:"a range"`
	DefaultPrefix string `json:"default_prefix,omitempty"`
}

// RecipeInput is a variable of a recipe.
type RecipeInput struct {
	Name        string          `json:"name"`
	Type        string          `json:"type" doc:"as it is written in the recipe"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Sensitive   bool            `json:"sensitive"`
	Description string          `json:"description,omitempty"`
}

// RecipeOutput is an output of a recipe.
type RecipeOutput struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RecipeStep is a step as it is written, whatever for_each makes of it.
type RecipeStep struct {
	Address string `json:"address"`
	Stage   string `json:"stage,omitempty"`
}

// RecipePage is the reference page of a shipped recipe. inputs is an example of
// what it is given, in HCL.
func RecipePage(d RecipeDetail, inputs string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s. Version %s.\n\n```console\nhostler plan %s --inputs inputs.hcl\nhostler recipes copy %s ./site\n```\n",
		d.Name, d.Description, d.Version, d.Name, strings.TrimPrefix(d.Name, "recipe:"))
	if inputs != "" {
		fmt.Fprintf(&out, "\n`inputs.hcl`, for example:\n\n```hcl\n%s\n```\n", strings.TrimSpace(inputs))
	}
	out.WriteString("\n## Supported hosts\n\n| host | `ID` | `ID_LIKE` | `VARIANT_ID` | `VERSION_ID` | install prefix |\n|---|---|---|---|---|---|\n")
	for _, s := range d.Supports {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", s.Name, s.ID, s.IDLike, s.VariantID, cell(s.VersionID), s.prefix())
	}
	out.WriteString("\n## Inputs\n\n| input | type | default | meaning |\n|---|---|---|---|\n")
	for _, in := range d.Inputs {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", in.Name, cell(in.kind()), cell(in.given()), cell(in.Description+"."))
	}
	for _, in := range d.Inputs {
		if in.long() {
			fmt.Fprintf(&out, "\n### Type of %s\n\n```hcl\n%s\n```\n", in.Name, in.Type)
		}
	}
	section(&out, "Outputs", d.outputs())
	section(&out, "Steps", d.steps())
	return out.String()
}

func (s RecipeSupport) prefix() string {
	if s.DefaultPrefix == "" {
		return "`/usr/local`"
	}
	return "`" + s.DefaultPrefix + "`"
}

// long says that a type is shown by itself.
func (in RecipeInput) long() bool { return strings.Contains(in.Type, "\n") }

func (in RecipeInput) kind() string {
	if in.long() {
		return "[object](#type-of-" + in.Name + ")"
	}
	return "`" + in.Type + "`"
}

// given says what stands in for a value that is not given.
func (in RecipeInput) given() string {
	switch text := string(in.Default); {
	case in.Sensitive && in.Required:
		return "required, sensitive"
	case in.Required:
		return "required"
	case in.long() && len(text) > 60:
		return "as in its type"
	default:
		return "`" + text + "`"
	}
}

func (d RecipeDetail) outputs() string {
	var out strings.Builder
	for _, o := range d.Outputs {
		fmt.Fprintf(&out, "* `%s`: %s\n", o.Name, o.Description)
	}
	return out.String()
}

// steps are listed by stage.
func (d RecipeDetail) steps() string {
	var out strings.Builder
	stage := ""
	for i, s := range d.Steps {
		if s.Stage != stage || i == 0 {
			stage = s.Stage
			fmt.Fprintf(&out, "\n%s\n\n", stageTitle(stage))
		}
		fmt.Fprintf(&out, "* `%s`\n", s.Address)
	}
	return out.String()
}

func stageTitle(stage string) string {
	if stage == "" {
		return "Outside of stages:"
	}
	return "Stage " + stage + ":"
}
