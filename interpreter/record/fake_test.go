package record_test

import (
	"context"
	"errors"
	"syscall"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/afero"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// noDirSync is a file door on which the first sync of a directory fails.
type noDirSync struct {
	host.Files
	failed bool
}

func (f *noDirSync) Open(name string) (afero.File, error) {
	file, err := f.Files.Open(name)
	if err != nil || f.failed {
		return file, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		f.failed = true
		return &unsyncable{file}, nil
	}
	return file, nil
}

type unsyncable struct{ afero.File }

func (u *unsyncable) Sync() error { return syscall.EIO }

// noteType is a block that owns one path.
func noteType(version int) *block.Type {
	return &block.Type{
		Name: "note", Version: version,
		Schema: block.Schema{Attrs: []block.Attr{
			{Name: "path", Type: cty.String, Required: true}, {Name: "content", Type: cty.String, Bulk: true},
		}},
		New: func(a block.Args) (block.Step, hcl.Diagnostics) {
			return note{path: a.Value.GetAttr("path").AsString(), digest: digestOf(a)}, nil
		},
	}
}

func digestOf(a block.Args) string {
	if hole, ok := a.Holes["content"]; ok {
		return hole.Digest
	}
	return thing.Digest([]byte(a.Value.GetAttr("content").AsString()))
}

type note struct{ path, digest string }

func (n note) Owns() []thing.Owned {
	return []thing.Owned{{Thing: thing.Path(n.path), Want: &thing.State{Kind: thing.File, Digest: n.digest, Mode: "0644"}}}
}

func (n note) Check(context.Context, block.Look) (block.Change, error) { return block.NoChange(), nil }
func (n note) Apply(context.Context, block.Do) error                   { return errors.ErrUnsupported }
func (n note) Reset(ctx context.Context, in block.Do, t thing.Thing, o thing.Origin) error {
	return t.PutBack(ctx, in.Host, o, in.Keep)
}

// placed is a note at an address.
func placed(address, path, content string) block.Placed {
	typ := noteType(1)
	v := cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal(path), "content": cty.StringVal(content)})
	data, err := block.Plain(typ.Schema, v, nil)
	if err != nil {
		panic(err)
	}
	step, _ := typ.New(block.Args{Value: v})
	return block.Placed{Address: address, Type: typ, Step: step, Data: data}
}
