// Package record is the memory of an installation: who it is, what it claims,
// what was there before, and what it was and is driven to.
//
// The record names each thing that may be touched before it is touched. It
// never says how far an attempt got: whether something was done is a question
// to the host.
package record

import (
	"encoding/json"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

// Schema is the version of the record's format. It moves only when an older
// release must not touch a newer record.
const Schema = 1

// Phase is the mode an installation is in.
type Phase string

// The phases a record can have; nothing else, ever.
const (
	Installing Phase = "installing"
	Complete   Phase = "complete"
	Resetting  Phase = "resetting"
)

// Record is the ownership record. It is internal to hostler and no
// configuration input.
type Record struct {
	SchemaVersion int `json:"schema_version"`
	// ID is 16 random bytes in hex, the same for the life of the installation;
	// "" until the first live run.
	ID     string `json:"installation_id,omitempty"`
	Recipe Recipe `json:"recipe"`
	// Fingerprint is the identity, Superseded those a repave replaced.
	Fingerprint string   `json:"fingerprint"`
	Superseded  []string `json:"superseded_fingerprints,omitempty"`
	Phase       Phase    `json:"phase"`
	// Prefix is the install prefix, absent at the default.
	Prefix string `json:"prefix,omitempty"`
	// Applied, Target and Previous name states ("sha256:HEX"), "" if there is
	// none.
	Applied  string `json:"applied,omitempty"`
	Target   string `json:"target,omitempty"`
	Previous string `json:"previous,omitempty"`
	// Machines holds, by step address, what runs and what it was built from.
	Machines map[string]block.Built `json:"machines,omitempty"`
	// Repave is set while something of a repave may be left.
	Repave *Repaving `json:"repave,omitempty"`
	// Claims are in the order of the newest target. Of a record that
	// Store.Head returned they are there after ReadClaims.
	Claims []Claim `json:"claims"`

	// unread is what was read and not looked at but for its head.
	unread  []byte
	types   []block.Stored
	unknown map[string]json.RawMessage
}

// Recipe names the recipe that is installed.
type Recipe struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Claim is one owned thing.
type Claim struct {
	Thing thing.Key `json:"thing"`
	// Step is the step that owns it, as plain data with bulky values slimmed;
	// absent for directories that the interpreter claims itself.
	Step *block.Stored `json:"step,omitempty"`
	// Origin is what was there before it was touched.
	Origin thing.Origin `json:"origin"`
	// Wrote lists the contents we may have written, newest first: digests
	// ("sha256:HEX"), keyed digests of sensitive bytes ("keyed:HEX"), link
	// targets ("link:TARGET") or values ("value:TEXT").
	Wrote []string `json:"wrote,omitempty"`

	unknown map[string]json.RawMessage
}

// keepWrote bounds Claim.Wrote.
const keepWrote = 8

// UnreadableError is a record that is damaged.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("the ownership record %s cannot be read: %v; run hostler reset, which works without it", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Claim returns the claim of a thing, nil if there is none.
func (r *Record) Claim(key thing.Key) *Claim {
	for i := range r.Claims {
		if r.Claims[i].Thing == key {
			return &r.Claims[i]
		}
	}
	return nil
}

// Index returns the claims by thing.
func (r *Record) Index() map[thing.Key]*Claim {
	index := make(map[thing.Key]*Claim, len(r.Claims))
	for i := range r.Claims {
		index[r.Claims[i].Thing] = &r.Claims[i]
	}
	return index
}
