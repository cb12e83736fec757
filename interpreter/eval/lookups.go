package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// Lookups answers the look-up functions. Either half may be nil: nothing is
// known then. What cannot be known is an error that wraps host.ErrUnknown.
type Lookups struct {
	Files  FileLookups
	System SystemLookups
}

// FileLookups answers look-ups of files. Paths are absolute and clean.
type FileLookups interface {
	// FileExists says whether anything is at the path, a final link followed.
	FileExists(path string) (bool, error)
	// FileSHA256 is the lower-case hex digest of a file's bytes, "" when
	// there is none.
	FileSHA256(path string) (string, error)
	// Glob lists the paths that match, sorted.
	Glob(pattern string) ([]string, error)
	// Executable is the path of a program looked up by name, "" when there is
	// none.
	Executable(name string) (string, error)
}

// SystemLookups answers look-ups of machines, units and sockets.
type SystemLookups interface {
	// MachineRegistered says whether a machine of that name is registered.
	MachineRegistered(name string) (bool, error)
	// UnitState describes a unit.
	UnitState(name string) (host.UnitState, error)
	// Listener is the listening TCP socket at an address, nil when there is
	// none.
	Listener(address string) (*host.ListenerState, error)
}

// lookupNames are the look-up functions, sorted.
var lookupNames = [...]string{"executable", "file_exists", "file_sha256", "glob", "listener", "machine_registered", "unit_state"}

func isLookup(name string) bool { return slices.Contains(lookupNames[:], name) }

var (
	unitStateType = cty.Object(map[string]cty.Type{"load": cty.String, "active": cty.String, "sub": cty.String, "file": cty.String})
	listenerType  = cty.Object(map[string]cty.Type{"address": cty.String, "exe": cty.String, "root": cty.String})
)

// lookup is a question that a recipe asked.
type lookup struct{ function, argument string }

// lookupFunctions are the look-up functions; each question is passed to asked.
// A question is asked once.
func lookupFunctions(l Lookups, asked func(lookup)) map[string]function.Function {
	a := &asker{l: l, asked: asked, known: map[lookup]answer{}}
	return map[string]function.Function{
		"file_exists": a.function(spec{name: "file_exists", param: "path", ret: cty.Bool, check: block.CheckPath, ask: a.fileExists,
			doc: "Says whether a file, directory or other thing is at an absolute path of the host."}),
		"file_sha256": a.function(spec{name: "file_sha256", param: "path", ret: cty.String, check: block.CheckPath, ask: a.fileSHA256,
			doc: "Returns the SHA-256 digest of a file of the host in hex, or null when there is no file."}),
		"glob": a.function(spec{name: "glob", param: "pattern", ret: cty.List(cty.String), check: block.CheckPath, ask: a.glob,
			doc: "Lists the paths of the host that match a pattern with *, ? and [...], sorted."}),
		"executable": a.function(spec{name: "executable", param: "name", ret: cty.String, check: notEmpty, ask: a.executable,
			doc: "Returns the path of a program of the host, looked up by its name, or null when there is none."}),
		"machine_registered": a.function(spec{name: "machine_registered", param: "name", ret: cty.Bool, check: notEmpty, ask: a.machine, variadic: true,
			doc: "Says whether one of the machines named is registered with systemd-machined."}),
		"unit_state": a.function(spec{name: "unit_state", param: "name", ret: unitStateType, check: block.CheckUnitName, ask: a.unit,
			doc: "Returns the state of a unit as an object: load (\"loaded\", \"not-found\", ...), active (\"active\", \"inactive\", \"failed\", ...), sub, and file (\"enabled\", \"disabled\", ...), in systemd's words."}),
		"listener": a.function(spec{name: "listener", param: "address", ret: listenerType, check: notEmpty, ask: a.listener,
			doc: "Returns who listens on a TCP address such as \"0.0.0.0:10250\" as an object with address, exe and root, or null when nobody does."}),
	}
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("It is empty; write a name.")
	}
	return nil
}

type answer struct {
	v   cty.Value
	err error
}

// asker asks each question once and keeps the answer.
type asker struct {
	l     Lookups
	asked func(lookup)
	known map[lookup]answer
}

type spec struct {
	name, param, doc string
	variadic         bool
	ret              cty.Type
	check            func(string) error
	ask              func(string) (cty.Value, error)
}

func (a *asker) function(s spec) function.Function {
	param := function.Parameter{Name: s.param, Type: cty.String}
	f := &function.Spec{Description: s.doc, Type: function.StaticReturnType(s.ret)}
	if s.variadic {
		f.VarParam = &param
	} else {
		f.Params = []function.Parameter{param}
	}
	f.Impl = func(args []cty.Value, ret cty.Type) (cty.Value, error) {
		result := cty.NullVal(ret)
		if s.variadic {
			result = cty.False
		}
		for i, arg := range args {
			v, err := a.once(s, arg.AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			if !s.variadic || !v.IsKnown() || v.True() {
				result = v
			}
			if s.variadic && v.IsKnown() && v.True() {
				break
			}
		}
		return result, nil
	}
	return function.New(f)
}

func (a *asker) once(s spec, arg string) (cty.Value, error) {
	if err := s.check(arg); err != nil {
		return cty.NilVal, err
	}
	q := lookup{s.name, arg}
	a.asked(q)
	if had, ok := a.known[q]; ok {
		return had.v, had.err
	}
	v, err := s.ask(arg)
	if errors.Is(err, host.ErrUnknown) {
		v, err = cty.UnknownVal(s.ret), nil
	}
	if err != nil {
		err = fmt.Errorf("looking on the host failed: %w", err)
	}
	a.known[q] = answer{v, err}
	return v, err
}

var errNobody = host.Unknownf("there is no host to look at")

func (a *asker) fileExists(path string) (cty.Value, error) {
	if a.l.Files == nil {
		return cty.NilVal, errNobody
	}
	yes, err := a.l.Files.FileExists(path)
	return cty.BoolVal(yes), err
}

func (a *asker) fileSHA256(path string) (cty.Value, error) {
	if a.l.Files == nil {
		return cty.NilVal, errNobody
	}
	s, err := a.l.Files.FileSHA256(path)
	return textOrNull(s), err
}

func (a *asker) glob(pattern string) (cty.Value, error) {
	if a.l.Files == nil {
		return cty.NilVal, errNobody
	}
	list, err := a.l.Files.Glob(pattern)
	return texts(list), err
}

func (a *asker) executable(name string) (cty.Value, error) {
	if a.l.Files == nil {
		return cty.NilVal, errNobody
	}
	s, err := a.l.Files.Executable(name)
	return textOrNull(s), err
}

func (a *asker) machine(name string) (cty.Value, error) {
	if a.l.System == nil {
		return cty.NilVal, errNobody
	}
	yes, err := a.l.System.MachineRegistered(name)
	return cty.BoolVal(yes), err
}

func (a *asker) unit(name string) (cty.Value, error) {
	if a.l.System == nil {
		return cty.NilVal, errNobody
	}
	u, err := a.l.System.UnitState(name)
	return cty.ObjectVal(map[string]cty.Value{
		"load": cty.StringVal(u.LoadState), "active": cty.StringVal(u.ActiveState),
		"sub": cty.StringVal(u.SubState), "file": cty.StringVal(u.UnitFileState),
	}), err
}

func (a *asker) listener(address string) (cty.Value, error) {
	if a.l.System == nil {
		return cty.NilVal, errNobody
	}
	l, err := a.l.System.Listener(address)
	if err != nil || l == nil {
		return cty.NullVal(listenerType), err
	}
	return cty.ObjectVal(map[string]cty.Value{
		"address": cty.StringVal(l.Address), "exe": cty.StringVal(l.Exe), "root": cty.StringVal(l.Root),
	}), nil
}

func textOrNull(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}
