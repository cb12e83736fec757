// Package block is the contract between the interpreter and block types.
//
// A [Type] describes one kind of block: its schema, its documentation and how
// to make a [Step] of evaluated arguments. A Step says what it owns, what
// exactly would have to change, makes the change, and undoes it. It works
// through the doors of package host only and does not know whether it stands
// on the host or inside a machine, on a live system, an offline root or a
// shadow.
package block

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Type is one kind of block. It is immutable.
type Type struct {
	// Name is the block's name in recipes.
	Name string
	// Version is that of the plain data; a record that holds a newer one is
	// not touched.
	Version int
	// Doc documents the type; Example is a recipe fragment that is linted,
	// planned and shown.
	Doc     Doc
	Example string
	Schema  Schema
	// Phases splits a type into parts between which nested steps stand, in
	// order; nil means one part. See Phase.
	Phases []Phase
	// HostOnly types are refused inside machines.
	HostOnly bool
	// Runs types start, stop or ask a running system: they are refused where
	// it does not run yet (Phase.AtRest).
	Runs bool
	// Preflight steps are checked before anything is changed, wherever they
	// stand.
	Preflight bool
	// Retryable lists the fault classes that retry covers; none means that
	// retry is refused.
	Retryable []FaultClass
	// New makes the step, or its part args.Phase. Diagnostics carry ranges
	// when args has them.
	New func(args Args) (Step, hcl.Diagnostics)
	// Exports gives the attributes that later steps may refer to, in the
	// shape of Schema.Exports; nil when there are none.
	Exports func(args Args) (map[string]Export, error)
}

// Doc is a type's documentation, in Markdown.
type Doc struct {
	Summary string // one sentence
	Text    string // what it is for and how to use it
	Checks  string // what it compares
	Owns    string // which things it claims
	Resets  string // what reset does
}

// Phase is one part of a type with nested steps. A phase with Steps is the
// place of the steps nested in the block of that name; the others are parts of
// the type itself, made by New with Args.Phase set. The name is shown where
// the part fails.
type Phase struct {
	Name string
	// Steps places the nested steps of the block Name here. Inside says that
	// they run inside the machine, else on the host.
	Steps, Inside bool
	// AtRest says that nothing runs inside when the nested steps act: they
	// write files and enable units, and never start or stop anything.
	AtRest bool
	// Bare names a type whose actions may stand among the nested steps without
	// a block of that type around them; "" is none.
	Bare string
}

// PartAfterStop is the phase whose nested steps act on the host after the
// machine has stopped: in a reset and a repave, never on the way forward.
const PartAfterStop = "after_stop"

// Forward says whether the step is driven to on the way forward.
func (p *Placed) Forward() bool {
	if p.Part != PartAfterStop || p.Step == nil {
		return true
	}
	_, undoes := p.Step.(ResetOnly)
	return undoes
}

// FaultClass is a kind of passing fault.
type FaultClass string

// The fault classes.
const (
	FaultNetwork FaultClass = "network" // connection, DNS, time-out, 429, 5xx
	FaultBusy    FaultClass = "busy"    // a lock held by another program
	FaultExit    FaultClass = "exit"    // a command that failed
)

// Step is a block with evaluated arguments, or a part of one. Methods observe
// ctx and name the thing in every error.
type Step interface {
	// Owns names every thing the step claims, before anything is touched.
	Owns() []thing.Owned
	// Check returns the exact change needed, without changing anything. It
	// does not fail only because an earlier step has not run yet: what cannot
	// be known is ActionUnknown with the cause.
	Check(ctx context.Context, in Look) (Change, error)
	// Apply makes the change. Afterwards Check returns ActionNone (or a
	// change that is only pending or deferred).
	Apply(ctx context.Context, in Do) error
	// Reset brings one owned thing back to its origin. in.Look says what is
	// there. It is idempotent and strict.
	Reset(ctx context.Context, in Do, t thing.Thing, o thing.Origin) error
}

// Look is what a step may look at.
type Look struct {
	// View is the host the step stands on: the host, or inside a machine.
	View host.View
	// Outer is the host that the machine runs on; equal to View on the host.
	Outer host.View
	// Debts are the restarts that this step owes, oldest first.
	Debts []Debt
	// Built is what the record says of the machine this step is about, nil if
	// nothing.
	Built *Built
	// Installed is the phase of the installation, for steps that behave
	// differently on a first run: "absent", "installing", "complete",
	// "resetting".
	Installed string
	// Keyed hashes a digest of sensitive bytes with the installation's key,
	// so that it can be compared with a hole; nil when there is no key.
	Keyed func(digest string) string
	// OwnUnit is the unit that hostler runs in, "" if none: units that are
	// ordered after it are never waited for.
	OwnUnit string
	// Cache is the directory on the outer host that holds downloaded blobs and
	// what they were resolved to; "" if there is none. It may be emptied at any
	// time.
	Cache string
	// Replaces is the slot that stays active until the one that this step is
	// about has proved itself: a repave builds it. "" outside of one.
	Replaces string
	// Slots lists the names of the machines that each nspawn_machine of the
	// recipe stands for, by its label; nil where that is not known.
	Slots map[string][]string
}

// Do is what a step may do.
type Do struct {
	Look
	// Host is where Look.View looks; OuterHost where Look.Outer does.
	Host, OuterHost host.Host
	// Keep holds originals.
	Keep thing.Keeper
	// Cache holds downloaded blobs; a directory on the outer host.
	Cache string
	// Turns keeps steps that fetch at the same time from fetching one blob
	// twice; nil where nothing goes on beside.
	Turns *host.Turns
	// Progress reports long work; never nil.
	Progress func(Progress)
	// Warn reports what an operator should know; never nil.
	Warn func(Warning)
	// Program opens the executable of the interpreter that runs; nil where
	// there is none to install.
	Program func() (io.ReadCloser, error)
	// Build notes in the record what a machine was built from; nil outside of
	// a run.
	Build func(ctx context.Context, b Built) error
	// AfterStop does what is to be done on the host after a slot has stopped,
	// if the recipe it was made from says anything; nil outside of a run. It may
	// be called again.
	AfterStop func(ctx context.Context, slot string) error
}

// Debt is a restart that is owed because a watched thing changed.
type Debt struct {
	// Step is the address of the step that owes it, Cause that of the changed
	// step, Reason why.
	Step   string `json:"step"`
	Cause  string `json:"cause"`
	Reason string `json:"reason"`
	// Unit and Machine say what is to be restarted.
	Unit    string `json:"unit"`
	Machine string `json:"machine,omitempty"`
	// Invocation is the unit's InvocationID before the change, "" when it was
	// not running.
	Invocation string `json:"invocation,omitempty"`
	// InPlace is when the change was in place, on the axis of
	// host.Clock.Monotonic; 0 while that is not certain.
	InPlace time.Duration `json:"in_place,omitempty"`
}

// Built is what a machine was built from.
type Built struct {
	Label  string `json:"label"`
	Active string `json:"active"`
	// Image is the reference and Digest what it resolved to.
	Image  string            `json:"image,omitempty"`
	Digest string            `json:"digest,omitempty"`
	Parts  map[string]string `json:"parts,omitempty"` // digests of settings, service, …
	// RebuildOn is the digest of the values that only a rebuild delivers, "" if
	// there were none.
	RebuildOn string `json:"rebuild_on,omitempty"`
}

// Progress is a piece of long work.
type Progress struct {
	What  string // "download", "unpack"
	Name  string
	Done  int64 // bytes
	Total int64 // bytes, 0 if unknown
}

// Warning is something an operator should know that is no failure.
type Warning struct{ Summary, Detail string }

// Watcher is a Step that is told of changes of others (restart_on_change).
type Watcher interface {
	// Watches lists the addresses of the steps it watches and the unit that
	// will owe a restart.
	Watches() (addresses []string, unit string)
}

// ResetOnly is a Step that acts only at its place in the backwards walk. It is
// called once; what it removes is named by Owns.
type ResetOnly interface {
	// Undo does the actions.
	Undo(ctx context.Context, in Do) error
}

// Placed is a step at its place in a recipe.
type Placed struct {
	// Address is unique, for example "use.base.systemd_unit.a" or
	// `nspawn_machine.kube1.write_file_if_changed.b["x"]`.
	Address string
	// Label is the block's label, with the instance's key left out.
	Label string
	Type  *Type
	Step  Step
	// Phase is the part of Type that Step is, "" for the only one.
	Phase string
	// Data is the evaluated arguments as plain data: sensitive values are
	// holes. It is what the record and the state store.
	Data json.RawMessage
	// Stage is the label of the stage it stands in, "" if in none; for parts
	// of a machine the phase follows after a slash.
	Stage string
	// Machine is the name of the machine it runs inside of, "" on the host;
	// Part is the phase its nested block belongs to ("before_boot").
	Machine, Part string
	// Owner is the address of the step it is nested in.
	Owner string
	// Source names the recipe whose files the step reads, as eval.Source does.
	Source string
	// Self is the slot that was current when it was evaluated.
	Self        string
	Description string
	// FailureReason is the class that a failure of the step is reported as,
	// "" for that of the fault.
	FailureReason string
	Timeout       time.Duration // 0: none
	Retry         Retry
	OnDrift       OnDrift
	// Deferred says why the step cannot be evaluated now (offline), "" if it
	// can; Step is then nil.
	Deferred string
	// NeedsInput names sensitive variables without a value that the step was
	// made from; writing it needs them.
	NeedsInput []string
	// Sensitive is true when any argument is sensitive.
	Sensitive bool
	// Range is the block's header, zero when the step comes from a record.
	Range hcl.Range
}

// Retry bounds the tries after passing faults.
type Retry struct {
	Attempts int // 0 and 1: once
	Delay    time.Duration
	MaxDelay time.Duration
}

// OnDrift says what to do when the host was changed behind our back.
type OnDrift string

// The values of on_drift.
const (
	DriftRepair OnDrift = "repair"
	DriftReport OnDrift = "report"
	DriftHold   OnDrift = "hold"
)

// Vocabulary is all block types and functions of the language.
type Vocabulary struct {
	// Types are in the order of their names.
	Types []*Type
	// Functions returns the pure functions; files are read through assets.
	Functions func(assets Assets) map[string]function.Function
}

// Type returns the type of that name, nil if there is none.
func (v Vocabulary) Type(name string) *Type {
	for _, t := range v.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Assets reads files of the recipe. Names are relative, clean and stay inside
// the recipe's directory.
type Assets interface {
	ReadFile(name string) ([]byte, error)
}
