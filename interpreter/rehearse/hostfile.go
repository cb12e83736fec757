package rehearse

import (
	"fmt"
	"io/fs"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// hostFile is the function host_file: what stands at a path, null for nothing.
func hostFile(f host.FileView) function.Function {
	ret := cty.Object(map[string]cty.Type{
		"kind": cty.String, "content": cty.String, "mode": cty.String, "uid": cty.Number, "gid": cty.Number, "target": cty.String,
	})
	return function.New(&function.Spec{
		Description: "Returns what stands at an absolute path of the test's host: an object with kind, content, mode, uid, gid and target, or null when there is nothing.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(ret),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if err := block.CheckPath(name); err != nil {
				return cty.NilVal, err
			}
			info, err := host.Lstat(f, name)
			if host.Absent(err) {
				return cty.NullVal(ret), nil
			}
			if err != nil {
				return cty.NilVal, err
			}
			return describe(f, name, info)
		},
	})
}

func describe(f host.FileView, name string, info fs.FileInfo) (cty.Value, error) {
	kind, content, target := "other", cty.NullVal(cty.String), cty.NullVal(cty.String)
	switch {
	case info.Mode().IsRegular():
		data, err := thing.ReadAll(f, name)
		if err != nil {
			return cty.NilVal, err
		}
		kind, content = "file", cty.StringVal(string(data))
	case info.IsDir():
		kind = "directory"
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := f.ReadlinkIfPossible(name)
		if err != nil {
			return cty.NilVal, err
		}
		kind, target = "symlink", cty.StringVal(to)
	}
	st := host.StatOf(info)
	return cty.ObjectVal(map[string]cty.Value{
		"kind": cty.StringVal(kind), "content": content, "target": target, "mode": cty.StringVal(fmt.Sprintf("%04o", host.ModeBits(info.Mode()))),
		"uid": cty.NumberIntVal(int64(st.UID)), "gid": cty.NumberIntVal(int64(st.GID)),
	}), nil
}
