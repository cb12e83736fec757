package thing

import (
	"encoding/json"
	"unicode/utf8"
)

// bareState is a State without JSON of its own.
type bareState State

// storedState is a State in JSON. What a host says in bytes that are no UTF-8
// (a link's target, a line of a file) stands in Exact too: the plain field has
// other characters in their place, for people and for earlier releases.
type storedState struct {
	bareState
	Exact *exactBytes `json:"exact,omitempty"`
}

type exactBytes struct {
	Target []byte            `json:"target,omitempty"`
	Value  []byte            `json:"value,omitempty"`
	Links  map[string][]byte `json:"links,omitempty"`
}

// MarshalJSON encodes the state so that reading it gives every byte back.
func (s State) MarshalJSON() ([]byte, error) {
	stored := storedState{bareState: bareState(s)}
	exact := func() *exactBytes {
		if stored.Exact == nil {
			stored.Exact = &exactBytes{}
		}
		return stored.Exact
	}
	if !utf8.ValidString(s.Target) {
		exact().Target = []byte(s.Target)
	}
	if !utf8.ValidString(s.Value) {
		exact().Value = []byte(s.Value)
	}
	for path, target := range s.Links {
		if utf8.ValidString(target) {
			continue
		}
		if e := exact(); e.Links == nil {
			e.Links = map[string][]byte{}
		}
		stored.Exact.Links[path] = []byte(target)
	}
	return json.Marshal(stored)
}

// UnmarshalJSON reads what MarshalJSON wrote, of earlier releases too.
func (s *State) UnmarshalJSON(data []byte) error {
	stored := storedState{bareState: bareState(*s)}
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	*s = State(stored.bareState)
	if stored.Exact == nil {
		return nil
	}
	if stored.Exact.Target != nil {
		s.Target = string(stored.Exact.Target)
	}
	if stored.Exact.Value != nil {
		s.Value = string(stored.Exact.Value)
	}
	if s.Links == nil && len(stored.Exact.Links) > 0 {
		s.Links = map[string]string{}
	}
	for path, target := range stored.Exact.Links {
		s.Links[path] = string(target)
	}
	return nil
}
