package rehearse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rehearse/laws"
)

// Image is a kind of host that recipes are held against.
type Image struct {
	Name    string
	Options memory.Options
	// Whole says that programs and mounts are known, too, and not only the
	// os-release.
	Whole bool
}

// Subject is a recipe that is held against images.
type Subject struct {
	Name   string
	Recipe *eval.Recipe
	Bundle *interpreter.Bundle
	Given  []eval.Given
}

// Verdict is what a recipe is on an image.
type Verdict string

// The verdicts: the recipe does not support it; supports it, as far as its
// os-release tells; finds there all that it requires; or lacks something.
const (
	Unsupported Verdict = "unsupported"
	Supported   Verdict = "supported"
	Ready       Verdict = "ready"
	Unmet       Verdict = "unmet"
	Invalid     Verdict = "invalid"
)

// Cell is one recipe on one image.
type Cell struct {
	Verdict Verdict
	// Support is the label of the supports block that matches, Reason why the
	// verdict is none that is hoped for.
	Support, Reason string
}

// Matrix is a table of recipes and images.
type Matrix struct {
	Recipes, Images []string
	// Cells are by recipe, then image.
	Cells [][]Cell
}

// NewMatrix holds every recipe against every image.
func NewMatrix(ctx context.Context, lang Language, recipes []Subject, images []Image) Matrix {
	m := Matrix{}
	for _, img := range images {
		m.Images = append(m.Images, img.Name)
	}
	for _, r := range recipes {
		m.Recipes = append(m.Recipes, r.Name)
		var row []Cell
		for _, img := range images {
			row = append(row, judge(ctx, lang, r, img))
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}

func judge(ctx context.Context, lang Language, s Subject, img Image) (c Cell) {
	m, err := (madeOf{img.Options}).host()
	if err != nil {
		return Cell{Verdict: Invalid, Reason: err.Error()}
	}
	facts, err := host.ReadFacts(ctx, m.Host().View())
	if err != nil {
		return Cell{Verdict: Invalid, Reason: err.Error()}
	}
	support := s.Recipe.Support(facts)
	if support == nil {
		return Cell{Verdict: Unsupported}
	}
	c = Cell{Verdict: Supported, Support: support.Name}
	if !img.Whole {
		return c
	}
	_, err = laws.On(m, lang.Vocabulary).Interpreter().Preflight(ctx, interpreter.Request{Recipe: s.Recipe, Bundle: s.Bundle, Given: s.Given})
	unmet, isUnmet := errors.AsType[*interpreter.UnmetError](err)
	_, invalid := errors.AsType[hcl.Diagnostics](err)
	switch {
	case err == nil:
		c.Verdict = Ready
	case isUnmet:
		c.Verdict = Unmet
		var lines []string
		for _, f := range unmet.Findings {
			lines = append(lines, fmt.Sprintf("%s: %v", f.Address, f.Err))
		}
		c.Reason = strings.Join(lines, "\n")
	case invalid:
		c.Reason = "not tried: " + strings.TrimSpace(told(err))
	default:
		c.Verdict, c.Reason = Invalid, err.Error()
	}
	return c
}

// madeOf makes a host of options that may contradict themselves.
type madeOf struct{ memory.Options }

func (o madeOf) host() (m *memory.Memory, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the facts contradict themselves: %v", r)
		}
	}()
	return memory.New(o.Options), nil
}
