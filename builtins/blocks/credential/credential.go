// Package credential is the block for a credential that services load by name,
// encrypted where the host can.
package credential

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "credential", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A secret that services load by its name as a systemd credential.",
			Text:    doc,
			Checks:  "That the credential is stored and was made of this value, by a keyed hash beside it; mode and owner. It is not decrypted for that.",
			Owns:    "`path:` and `/etc/credstore.encrypted/NAME` with the hash beside it, and `/etc/credstore/NAME`, where it lies if the host cannot encrypt.",
			Resets:  "The files are removed or put back.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.Text("name").Names().Says("The credential. The block's label when left out."),
			value(),
			block.Switch("encrypt", true).Says("Whether it is encrypted with the host's key, and its TPM if it has one, where `systemd-creds` is installed. Otherwise only its mode protects it."),
		}},
		New: newStep,
	}
}

func value() block.Attr {
	a := block.Text("value").Must().MaySecret().Says("The secret.")
	a.Bulk = true
	return a
}

const (
	sealedDir = "/etc/credstore.encrypted"
	plainDir  = "/etc/credstore"
)

var credentialName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)

// maxValue is the largest credential that systemd loads, in bytes.
const maxValue = 1 << 20

type step struct {
	name    string
	encrypt bool
	value   *string
	hole    *block.Hole
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a struct {
		Name    *string `cty:"name"`
		Value   *string `cty:"value"`
		Encrypt bool    `cty:"encrypt"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	s := &step{name: args.Label, encrypt: a.Encrypt, value: a.Value}
	if a.Name != nil {
		s.name = *a.Name
	}
	if hole, ok := args.Holes["value"]; ok {
		s.hole, s.value = &hole, nil
	}
	switch {
	case !credentialName.MatchString(s.name) || len(s.name) > 200:
		return nil, hcl.Diagnostics{args.Fault("name", "Invalid credential name", fmt.Sprintf("%q is no name of a credential; write letters, digits, and - _ . inside, at most 200.", s.name))}
	case s.value != nil && len(*s.value) > maxValue:
		return nil, hcl.Diagnostics{args.Fault("value", "Credential too large", "A credential has at most 1 MiB.")}
	}
	return s, nil
}

func (s *step) sealed() string { return sealedDir + "/" + s.name }
func (s *step) plain() string  { return plainDir + "/" + s.name }

// note is where the hash of an encrypted value lies. Services do not load
// names that begin with a dot.
func (s *step) note() string { return sealedDir + "/." + s.name + ".hostler" }

// Owns names all places where the credential may be: which one it is depends
// on the host.
func (s *step) Owns() []thing.Owned {
	owned := []thing.Owned{{Thing: thing.Path(s.plain()), DirMode: "0700", Sensitive: true}}
	if !s.encrypt {
		want := s.want()
		owned[0].Want = want
		return owned
	}
	for _, path := range []string{s.sealed(), s.note()} {
		owned = append(owned, thing.Owned{Thing: thing.Path(path), DirMode: "0700"})
	}
	return owned
}

// want is the unencrypted file as far as it is known.
func (s *step) want() *thing.State {
	state := &thing.State{Kind: thing.File, Mode: "0600"}
	switch {
	case s.value != nil:
		state.Digest, state.Size = thing.Digest([]byte(*s.value)), int64(len(*s.value))
	case s.hole.Keyed != "":
		state.Digest, state.Size = s.hole.Keyed, s.hole.Size
	default:
		state.Digest, state.Size = s.hole.Digest, s.hole.Size
	}
	return state
}

// seals says whether the credential is encrypted on this host.
func (s *step) seals(v host.View) bool {
	if !s.encrypt {
		return false
	}
	_, err := host.LookTool(v.Files, "systemd-creds")
	return err == nil
}

// Reset removes a file or puts it back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Path(t.Key().Name()).PutBack(ctx, do.Host, o, do.Keep)
	}
	return named(t.Key().Name(), err)
}

func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
