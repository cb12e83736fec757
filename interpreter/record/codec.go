package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

// head is a record of which only the types are read of what is claimed.
type head struct {
	*plainRecord
	Claims []claimHead `json:"claims"`
}

type claimHead struct {
	Step *stepType `json:"step"`
}

type stepType struct {
	Address     string `json:"address"`
	Type        string `json:"type"`
	TypeVersion int    `json:"type_version"`
}

// decode reads the head of a record and refuses what this release cannot
// honour. All of it must be JSON.
func decode(path string, data []byte) (*Record, error) {
	r := &Record{unread: data}
	h := head{plainRecord: (*plainRecord)(r)}
	err := json.Unmarshal(data, &h)
	if err != nil || r.SchemaVersion != Schema {
		if known := checkSchema(path, data); known != nil {
			return nil, known
		}
	}
	if err == nil {
		err = r.valid()
	}
	if err != nil {
		return nil, &UnreadableError{path, err}
	}
	seen := map[stepType]bool{}
	for _, c := range h.Claims {
		if c.Step == nil {
			continue
		}
		one := stepType{Type: c.Step.Type, TypeVersion: c.Step.TypeVersion}
		if !seen[one] {
			seen[one] = true
			r.types = append(r.types, block.Stored{Address: c.Step.Address, Type: one.Type, TypeVersion: one.TypeVersion})
		}
	}
	return r, nil
}

// checkSchema says what is wrong with the version of a record's format.
func checkSchema(path string, data []byte) error {
	var versioned struct {
		SchemaVersion json.RawMessage `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &versioned); err != nil {
		return &UnreadableError{path, err}
	}
	var version int
	if err := json.Unmarshal(versioned.SchemaVersion, &version); err != nil || version < 1 {
		return &UnreadableError{path, fmt.Errorf("schema_version is %s", orNothing(versioned.SchemaVersion))}
	}
	if version > Schema {
		return &block.NewerError{What: fmt.Sprintf("the ownership record %s (schema %d, this release knows %d)", path, version, Schema)}
	}
	return nil
}

// Types are the types of the steps in the record that was read, each version
// once and with the first step of it.
func (r *Record) Types() []block.Stored { return r.types }

// ReadClaims reads the claims of a record of which only the head was read, and
// the fields that are not known. It is nothing to do when that was done. The
// error is an *UnreadableError.
func (r *Record) ReadClaims() error {
	if r.unread == nil {
		return nil
	}
	claims, unknown, err := readRest(r.unread)
	if err == nil {
		r.Claims, r.unknown, r.unread = claims, unknown, nil
		err = r.validClaims()
	}
	if err != nil {
		return &UnreadableError{File, err}
	}
	return nil
}

func readRest(data []byte) (claims []Claim, unknown map[string]json.RawMessage, err error) {
	unknown, err = unknownFields(data, &plainRecord{})
	if err != nil {
		return nil, nil, err
	}
	var rest struct {
		Claims []Claim `json:"claims"`
	}
	err = json.Unmarshal(data, &rest)
	return rest.Claims, unknown, err
}

func orNothing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	return string(raw)
}

func (r *Record) valid() error {
	switch r.Phase {
	case Installing, Complete, Resetting:
	case "":
		return errors.New("phase is missing")
	default:
		return fmt.Errorf("phase %q is not one of installing, complete, resetting", r.Phase)
	}
	if r.Recipe.Name == "" || r.Fingerprint == "" {
		return errors.New("recipe name or fingerprint is missing")
	}
	if r.Prefix != "" {
		if err := block.CheckPrefix(r.Prefix); err != nil {
			return fmt.Errorf("prefix: %w", err)
		}
	}
	return nil
}

// validClaims says what is wrong with the claims.
func (r *Record) validClaims() error {
	seen := map[thing.Key]bool{}
	for _, c := range r.Claims {
		if c.Thing == "" || seen[c.Thing] {
			return fmt.Errorf("claim %q is empty or there twice", c.Thing)
		}
		seen[c.Thing] = true
	}
	for address, b := range r.Machines {
		if b.Active != "" && !seen[machineKey(b.Active)] {
			return fmt.Errorf("machine %q of %s is none of those that are claimed", b.Active, address)
		}
	}
	return nil
}

// encode writes a record as two-space indented JSON with a final newline.
func (r *Record) encode() ([]byte, error) {
	if err := r.ReadClaims(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// The plain twins carry the fields; the methods add those that are not known.
type (
	plainRecord Record
	plainClaim  Claim
)

// MarshalJSON writes the unknown fields back.
func (r *Record) MarshalJSON() ([]byte, error) {
	return withUnknown((*plainRecord)(r), r.unknown)
}

// UnmarshalJSON keeps fields that this release does not know.
func (c *Claim) UnmarshalJSON(data []byte) (err error) {
	if err := json.Unmarshal(data, (*plainClaim)(c)); err != nil {
		return err
	}
	c.unknown, err = unknownFields(data, (*plainClaim)(c))
	return err
}

// MarshalJSON writes the unknown fields back.
func (c Claim) MarshalJSON() ([]byte, error) {
	return withUnknown((*plainClaim)(&c), c.unknown)
}
