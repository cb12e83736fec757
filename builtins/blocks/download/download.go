// Package download is the block that fetches files over HTTP, whole or out of
// an archive.
package download

import (
	"context"
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "download", Version: 1, Example: example, Retryable: []block.FaultClass{block.FaultNetwork},
		Doc: block.Doc{
			Summary: "Fetches a file, or members of a tar archive, verified by digest.",
			Text:    doc,
			Checks:  "The digest, mode and owner of each file, against `sha256` or what was stored when it was fetched. No network is needed for that.",
			Owns:    "`path:` and each path.",
			Resets:  "A file that was not there is removed; one that was is put back.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

// defaultMax is 1 GiB.
const defaultMax = 1 << 30

func schema() block.Schema {
	max := block.Count("max_bytes", 1).Says("How large the download, and each member, may be. 1 GiB when left out.")
	max.Default = cty.NumberIntVal(defaultMax)
	return block.Schema{Attrs: []block.Attr{
		block.URL("url").Must().MaySecret().Says("Where the file is. Its query, which may be a signature, is never shown. Without `sha256` it must be https."),
		digest("sha256", "The SHA-256 digest of what is downloaded, in hexadecimal. Exactly one of `sha256`, `sha256_url` and `mutable` is given."),
		block.URL("sha256_url").Says("Where the digest is: a text of at most 16 KiB that starts with it, or has it in the line of the file's name."),
		block.Switch("mutable", false).Says("`true` takes whatever is there now, without a digest. It is fetched once; what was got then is what the file is held to."),
		block.AbsPath("path").Names().Says("Where the file is put. Exactly one of `path` and `members` is given."),
		members(),
		block.Mode("mode", "0644").Says("The permissions of each file, always enforced; they belong to root."),
		max,
		block.Text("authorization").MaySecret().Says("The value of the Authorization header, for example `\"Bearer …\"`. It is sent to the URL's own host only, not where redirects lead."),
	}}
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func digest(name, doc string) block.Attr {
	a := block.Text(name).Says(doc)
	a.Grammar = "SHA-256 digest"
	a.Convert = func(v cty.Value) (cty.Value, error) {
		if v.IsNull() || v.Type() != cty.String {
			return v, nil
		}
		return cty.StringVal(strings.ToLower(strings.TrimPrefix(v.AsString(), "sha256:"))).WithSameMarks(v), nil
	}
	a.Check = func(v cty.Value) error {
		if !hexDigest.MatchString(v.AsString()) {
			return block.Advicef("A SHA-256 digest has 64 hexadecimal digits; this has %d characters.", len(v.AsString()))
		}
		return nil
	}
	return a
}

func members() block.Attr {
	return block.Attr{
		Name: "members", Type: cty.Map(cty.String), Owned: true, Grammar: "object of paths",
		Doc: "Members of the tar archive (plain, gzip or zstd) and where each is put: `{ \"bin/ctr\" = \"/usr/local/bin/ctr\" }`. Only regular files can be taken.",
		Check: func(v cty.Value) error {
			seen := map[string]bool{}
			for member, to := range v.AsValueMap() {
				if err := checkMember(member); err != nil {
					return err
				}
				if to.IsNull() {
					return block.Advicef("The path of %q is null; leave the member out instead.", member)
				}
				if !to.IsKnown() {
					continue
				}
				if err := block.CheckPath(to.AsString()); err != nil {
					return err
				}
				if seen[to.AsString()] {
					return block.Advicef("%q is the path of two members.", to.AsString())
				}
				seen[to.AsString()] = true
			}
			if len(seen) == 0 && v.LengthInt() == 0 {
				return block.Advicef("Name at least one member.")
			}
			return nil
		},
	}
}

func checkMember(name string) error {
	if hostile(name) || cleaned(name) != name || name == "." {
		return block.Advicef("%q is no name of a member that is taken; write its path in the archive, without \"./\" and \"..\", for example \"bin/ctr\".", name)
	}
	return nil
}

// arguments are the block's as they are evaluated.
type arguments struct {
	URL           *string           `cty:"url"`
	SHA256        *string           `cty:"sha256"`
	SHA256URL     *string           `cty:"sha256_url"`
	Mutable       bool              `cty:"mutable"`
	Path          *string           `cty:"path"`
	Members       map[string]string `cty:"members"`
	Mode          string            `cty:"mode"`
	MaxBytes      int64             `cty:"max_bytes"`
	Authorization *string           `cty:"authorization"`
}

type step struct {
	args   arguments
	mode   uint32
	files  map[string]string // path: member, "" for the whole file
	paths  []string          // sorted
	secret bool              // the URL is sensitive
	holes  bool              // a value that is needed to fetch is not there
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	if err := args.Into(&s.args); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	var err error
	if s.mode, err = block.ParseMode(s.args.Mode); err != nil {
		return nil, hcl.Diagnostics{args.Fault("mode", "Invalid mode", err.Error())}
	}
	_, noURL := args.Holes["url"]
	_, noHeader := args.Holes["authorization"]
	s.secret, s.holes = args.Secret["url"] || noURL, noURL || noHeader
	s.files = map[string]string{}
	if s.args.Path != nil {
		s.files[*s.args.Path] = ""
	}
	for member, to := range s.args.Members {
		s.files[to] = member
	}
	s.paths = slices.Sorted(maps.Keys(s.files))
	if diags := s.rules(args); diags.HasErrors() {
		return nil, diags
	}
	return s, nil
}

func (s *step) rules(args block.Args) (diags hcl.Diagnostics) {
	a, ways := s.args, 0
	for _, given := range []bool{a.SHA256 != nil, a.SHA256URL != nil, a.Mutable} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		diags = append(diags, args.Fault("", "Digest needed", "Write exactly one of sha256, sha256_url and mutable = true: what is downloaded has to be known by its digest, or declared to change."))
	}
	if (a.Path != nil) == (a.Members != nil) {
		diags = append(diags, args.Fault("", "Path needed once", "Write exactly one of path and members."))
	}
	if slices.Contains(s.paths, "/") {
		diags = append(diags, args.Fault("path", "Not a file", "\"/\" is the root directory; write the path of a file."))
	}
	plain := func(u *string) bool { return u != nil && strings.HasPrefix(strings.ToLower(*u), "http:") }
	if a.SHA256 == nil && (plain(a.URL) || plain(a.SHA256URL)) {
		diags = append(diags, args.Fault("url", "Plain http without a digest", "What comes over http can be changed on the way; write an https URL, or the digest as sha256."))
	}
	if plain(a.URL) && (a.Authorization != nil || s.holes) {
		diags = append(diags, args.Fault("authorization", "Header over plain http", "The header could be read on the way; write an https URL."))
	}
	return diags
}

// name is the download's source as it may be shown.
func (s *step) name() string {
	if s.secret || s.args.URL == nil {
		return "its URL"
	}
	return rootfs.RedactURL(*s.args.URL)
}

// Owns names the files. What a member holds is known only once it was fetched.
func (s *step) Owns() []thing.Owned {
	var owned []thing.Owned
	for _, path := range s.paths {
		o := thing.Owned{Thing: thing.Path(path)}
		if s.args.SHA256 != nil && s.files[path] == "" {
			o.Want = &thing.State{Kind: thing.File, Digest: "sha256:" + *s.args.SHA256, Mode: thing.Mode(host.FileMode(s.mode))}
		}
		owned = append(owned, o)
	}
	return owned
}

// Reset removes a file, or puts back what was there.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Path(t.Key().Name()).PutBack(ctx, do.Host, o, do.Keep)
	}
	return named(t.Key().Name(), err)
}
