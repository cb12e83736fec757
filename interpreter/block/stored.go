package block

import (
	"encoding/json"
	"fmt"
	"time"

	"hostler/interpreter/host"
)

// Stored is a placed step as plain data, from which it can be made again
// without the recipe.
type Stored struct {
	Address       string          `json:"address"`
	Label         string          `json:"label,omitempty"`
	Type          string          `json:"type"`
	TypeVersion   int             `json:"type_version"`
	Phase         string          `json:"phase,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	Stage         string          `json:"stage,omitempty"`
	Machine       string          `json:"machine,omitempty"`
	Part          string          `json:"part,omitempty"`
	Owner         string          `json:"owner,omitempty"`
	Description   string          `json:"description,omitempty"`
	FailureReason string          `json:"failure_reason,omitempty"`
	Timeout       time.Duration   `json:"timeout,omitempty"`
	Retry         *Retry          `json:"retry,omitempty"`
	OnDrift       OnDrift         `json:"on_drift,omitempty"`
	Deferred      string          `json:"deferred,omitempty"`
	Sensitive     bool            `json:"sensitive,omitempty"`
	Self          string          `json:"self,omitempty"`
	Source        string          `json:"source,omitempty"`
}

// Store is p as plain data.
func Store(p Placed) Stored {
	s := Stored{
		Address: p.Address, Label: p.Label, Type: p.Type.Name, TypeVersion: p.Type.Version, Phase: p.Phase, Data: p.Data,
		Stage: p.Stage, Machine: p.Machine, Part: p.Part, Owner: p.Owner, Description: p.Description,
		FailureReason: p.FailureReason, Timeout: p.Timeout, OnDrift: p.OnDrift, Deferred: p.Deferred, Sensitive: p.Sensitive, Self: p.Self, Source: p.Source,
	}
	if p.Retry != (Retry{}) {
		s.Retry = &p.Retry
	}
	return s
}

// Setting is what a step needs besides its plain data to be made again.
type Setting struct {
	// Assets gives the files of the recipe a step comes from; nil when none
	// can be read.
	Assets func(source string) Assets
	Facts  host.Facts
	Prefix string
}

// NewerError says that a record was written by a newer release.
type NewerError struct{ What string }

func (e *NewerError) Error() string {
	return e.What + " was written by a newer release of hostler; run that release"
}

// Knows is a *NewerError for a step of a type that this release does not know,
// or of a newer version of one; else nil.
func (v Vocabulary) Knows(s Stored) error {
	if t := v.Type(s.Type); t == nil || s.TypeVersion > t.Version {
		return &NewerError{What: fmt.Sprintf("step %s (%s version %d)", s.Address, s.Type, s.TypeVersion)}
	}
	return nil
}

// Restore makes the placed step again. A type this release does not know, or
// one with a newer version, is a *NewerError.
func (v Vocabulary) Restore(s Stored, in Setting) (Placed, error) {
	if err := v.Knows(s); err != nil {
		return Placed{}, err
	}
	t := v.Type(s.Type)
	p := Placed{
		Address: s.Address, Label: s.Label, Type: t, Phase: s.Phase, Data: s.Data, Stage: s.Stage, Machine: s.Machine, Part: s.Part,
		Owner: s.Owner, Description: s.Description, FailureReason: s.FailureReason, Timeout: s.Timeout, OnDrift: s.OnDrift, Deferred: s.Deferred,
		Sensitive: s.Sensitive, Self: s.Self, Source: s.Source,
	}
	if s.Retry != nil {
		p.Retry = *s.Retry
	}
	if s.Deferred != "" && len(s.Data) == 0 {
		return p, nil
	}
	value, holes, err := ParsePlain(t.Schema, s.Data)
	if err != nil {
		return Placed{}, fmt.Errorf("step %s: %w", s.Address, err)
	}
	p.NeedsInput = HoleVars(holes)
	step, diags := t.New(Args{
		Address: s.Address, Label: s.Label, Phase: s.Phase, Value: value, Holes: holes, Secret: secrets(holes),
		Assets: in.assets(s.Source), Facts: in.Facts, Prefix: in.Prefix, Self: s.Self,
	})
	if diags.HasErrors() {
		return Placed{}, fmt.Errorf("step %s: %w", s.Address, diags)
	}
	p.Step = step
	return p, nil
}

func (in Setting) assets(source string) Assets {
	if in.Assets == nil {
		return nil
	}
	return in.Assets(source)
}

func secrets(holes map[string]Hole) map[string]bool {
	m := map[string]bool{}
	for path, hole := range holes {
		if hole.Keyed != "" || len(hole.Vars) > 0 {
			m[path] = true
		}
	}
	return m
}
