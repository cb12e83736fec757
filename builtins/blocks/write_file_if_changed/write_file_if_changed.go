// Package writefileifchanged is the block that brings one file to given bytes,
// mode and owner, and touches nothing when they are right.
package writefileifchanged

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
		Name: "write_file_if_changed", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "Writes a file, atomically and durably, when its bytes, mode or owner differ.",
			Text:    doc,
			Checks:  "The bytes by digest, then mode, owner and group. Only changed bytes count as a change for restart_on_change.",
			Owns:    "`path:` and the path. With `merge`, the keys it sets; the rest of the file stays its owner's.",
			Resets:  "A file that was not there is removed; one that was is put back with its bytes, mode, owner and time. With `merge` only its keys go back.",
		},
		Schema:  schema(),
		New:     newStep,
		Exports: exports,
	}
}

func schema() block.Schema {
	content := block.Text("content").MaySecret().Says("What the file holds, as text. `\"\"` makes an empty file. Exactly one of `content`, `content_base64` and `source` is given.")
	encoded := block.Base64("content_base64").MaySecret().Says("What the file holds, in base64: for bytes that are no text.")
	source := block.Text("source").Says("A file of the recipe that is written byte for byte.")
	content.Bulk, encoded.Bulk, source.Asset = true, true, true
	content.BulkUnless = "merge"
	return block.Schema{
		Attrs: []block.Attr{
			block.AbsPath("path").Must().Names().Says("Where the file stands. Missing parent directories are made."),
			content, encoded, source,
			block.Mode("mode", "0644").Says("Its permissions, always enforced. With `merge` they are those of a file that has to be made; one that is there keeps its own."),
			block.Owner("owner").Says("Its owner, always enforced; root when left out."),
			block.Group("group").Says("Its group, always enforced; root when left out."),
			block.Mode("directory_mode", "0755").Says("The permissions of parent directories that have to be made."),
			block.Argv("validate").Says("A command that must exit 0 before the file is put in place; `{}` in it stands for the name of the new file. On a host that does not run it is skipped with a warning."),
			block.Switch("replaces_foreign", false).Says("Whether the file may be there before the installation with other bytes; it is kept and put back on reset."),
			block.Choice("merge", "", "json").Says("`\"json\"` sets the keys of `content` in the JSON file that is there, objects deep, and leaves its other keys as they are."),
			block.Switch("follow", false).Says("Whether a symlink at `path` is followed; otherwise it is replaced by the file."),
			block.Switch("in_place", false).Says("Whether a file that cannot be replaced, because it is a mount point by itself, is overwritten in place. Readers may then see it half written."),
		},
		Exports: []block.Attr{block.AbsPath("path").Says("The path.")},
	}
}

func exports(args block.Args) (map[string]block.Export, error) {
	return map[string]block.Export{"path": {Value: args.Value.GetAttr("path")}}, nil
}

type arguments struct {
	Path            string   `cty:"path"`
	Content         *string  `cty:"content"`
	ContentBase64   *string  `cty:"content_base64"`
	Source          *string  `cty:"source"`
	Mode            string   `cty:"mode"`
	Owner           *string  `cty:"owner"`
	Group           *string  `cty:"group"`
	DirectoryMode   string   `cty:"directory_mode"`
	Validate        []string `cty:"validate"`
	ReplacesForeign bool     `cty:"replaces_foreign"`
	Merge           *string  `cty:"merge"`
	Follow          bool     `cty:"follow"`
	InPlace         bool     `cty:"in_place"`
}

// step is one file.
type step struct {
	args   arguments
	mode   uint32
	want   wanted
	keys   *object // what merge sets; nil without merge
	secret bool
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	if err := args.Into(&s.args); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	var diags hcl.Diagnostics
	mode, err := block.ParseMode(s.args.Mode)
	if err != nil {
		diags = append(diags, args.Fault("mode", "Invalid mode", err.Error()))
	}
	s.mode = mode
	s.secret = args.Secret["content"] || args.Secret["content_base64"]
	diags = append(diags, s.take(args)...)
	diags = append(diags, s.rules(args)...)
	if diags.HasErrors() {
		return nil, diags
	}
	return s, diags
}

// take finds where the bytes come from.
func (s *step) take(args block.Args) hcl.Diagnostics {
	var given []string
	for _, name := range []string{"content", "content_base64", "source"} {
		_, hole := args.Holes[name]
		if hole || !args.Value.GetAttr(name).RawEquals(cty.NullVal(cty.String)) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return hcl.Diagnostics{args.Fault("", "Content needed once",
			fmt.Sprintf("Write exactly one of content, content_base64 and source for %s; %d are given.", s.args.Path, len(given)))}
	}
	if err := s.want.fill(given[0], s.args, args); err != nil {
		return hcl.Diagnostics{args.Fault(given[0], "Content cannot be read", err.Error())}
	}
	return nil
}

func (s *step) rules(args block.Args) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if s.args.Path == "/" {
		diags = append(diags, args.Fault("path", "Not a file", "\"/\" is the root directory; write the path of a file."))
	}
	if len(s.args.Validate) > 0 && !slices.ContainsFunc(s.args.Validate, func(a string) bool { return strings.Contains(a, "{}") }) {
		diags = append(diags, args.Fault("validate", "No place for the file name",
			"Write {} where the command takes the name of the new file, for example [\"visudo\", \"-cf\", \"{}\"]."))
	}
	if s.args.Merge == nil {
		return diags
	}
	if s.args.Content == nil && !s.secret {
		return append(diags, args.Fault("merge", "Content needed in the recipe",
			"A merge takes its keys from content; write content = file(\"…\") to read them from a file of the recipe."))
	}
	if s.secret {
		return append(diags, args.Fault("content", "Sensitive value in a merge",
			"A merge reads and rewrites a file of others, so its keys cannot be kept secret; write the secret to a file of its own."))
	}
	if !s.want.known {
		return diags
	}
	keys, err := parseObject(s.want.bytes)
	if err != nil {
		diags = append(diags, args.Fault("content", "Not a JSON object", fmt.Sprintf("With merge = \"json\" the content is an object of the keys to set, for example jsonencode({ key = \"value\" }): %s.", err)))
	}
	s.keys = keys
	return diags
}

// Owns names the file.
func (s *step) Owns() []thing.Owned {
	return []thing.Owned{{
		Thing: s.thing(), Want: s.goal(), Sensitive: s.secret,
		Foreign: s.args.ReplacesForeign || s.args.Merge != nil, DirMode: s.args.DirectoryMode,
	}}
}

func (s *step) thing() thing.Thing {
	through := thing.Through{Path: thing.Path(s.args.Path), Follow: s.args.Follow, InPlace: s.args.InPlace}
	switch {
	case s.args.Merge != nil:
		return merged{Through: through, keys: s.keys}
	case s.args.Follow || s.args.InPlace:
		return through
	}
	return through.Path
}

func (s *step) goal() *thing.State {
	if s.args.Merge != nil {
		if s.keys == nil {
			return nil
		}
		state := keysState(s.keys, s.keys)
		return &state
	}
	digest := s.want.digest()
	if digest == "" {
		return nil
	}
	state := &thing.State{Kind: thing.File, Digest: digest, Size: int64(len(s.want.bytes)), Mode: thing.Mode(host.FileMode(s.mode))}
	if s.want.hole != nil {
		state.Size = s.want.hole.Size
	}
	var known bool
	if state.UID, state.GID, known = block.OwnerNumbers(text(s.args.Owner), text(s.args.Group)); !known {
		state.UID, state.GID = thing.AnyID, thing.AnyID
	}
	return state
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
