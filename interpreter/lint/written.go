package lint

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/unitfile"
)

// Written is a path that a step of the recipe makes or takes away.
type Written struct {
	Step *eval.Inspected
	Path string
	// At is where the path is written.
	At   hcl.Range
	pass *Pass
}

// pathTypes are the types whose attribute path names what they own.
func pathTypes() []string {
	return []string{"write_file_if_changed", "directory", "symlink", "absent", "download", "nft_ruleset", "sysctl"}
}

// Written are the known paths that steps own, in order; those of unit files
// included.
func (p *Pass) Written() []*Written {
	if p.written != nil {
		return p.written
	}
	p.written = []*Written{}
	for _, s := range p.Steps() {
		switch {
		case s.Type.Name == "systemd_unit":
			if s.Arg("content").Written() || s.Arg("source").Written() {
				p.unitPath(s)
			}
		case contains(pathTypes(), s.Type.Name):
			arg := s.Arg("path")
			if name, ok := arg.Text(); ok {
				p.written = append(p.written, &Written{s, name, arg.Range, p})
			}
		}
	}
	return p.written
}

func (p *Pass) unitPath(s *eval.Inspected) {
	name, at := s.Label, s.Header
	if arg := s.Arg("name"); arg.Written() {
		text, ok := arg.Text()
		if !ok {
			return
		}
		name, at = text, arg.Range
	}
	p.written = append(p.written, &Written{s, unitfile.EtcDir + "/" + name, at, p})
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// Files are the files that write_file_if_changed steps write.
func (p *Pass) Files() []*Written {
	var list []*Written
	for _, w := range p.Written() {
		if w.Step.Type.Name == "write_file_if_changed" {
			list = append(list, w)
		}
	}
	return list
}

// Text is the text of the file; ok is false when nothing is known of it.
func (w *Written) Text() (Text, bool) { return w.pass.content(w.Step.Arguments) }

// Mode is the file's mode, the default where none is written; ok is false when
// it is not known or no mode.
func (w *Written) Mode() (mode uint32, ok bool) { return ModeOf(w.Step.Arguments) }

// ModeOf is the mode among arguments.
func ModeOf(a *eval.Arguments) (mode uint32, ok bool) {
	text, ok := a.Arg("mode").Text()
	if !ok {
		return 0, false
	}
	mode, err := block.ParseMode(text)
	return mode, err == nil
}

// Below says whether a path lies in a directory.
func Below(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && strings.HasPrefix(rest, "/") && (dir != "/" || name != "/")
}

// Base is the last part of the path.
func (w *Written) Base() string { return path.Base(w.Path) }

// SamePlace says whether two steps see the same tree: the host, or the same
// machine.
func SamePlace(a, b *eval.Inspected) bool { return a.Inside == b.Inside && a.Machine == b.Machine }
