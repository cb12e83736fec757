package interpreter

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// Bundle notes everything that is read of a recipe and of the recipes it uses,
// so that it can be stored with what was evaluated.
type Bundle struct {
	main    string
	files   map[string][]byte
	uses    map[string]string
	sources []eval.Source
	read    []Read
}

// Read is a file that was read of a recipe.
type Read struct {
	// Source is the name of the recipe's own text, and File that of the file
	// relative to it; "" for that text.
	Source, File string
	Data         []byte
}

// Path is where the file is, beside the recipe's text.
func (r Read) Path() string {
	if r.File == "" {
		return r.Source
	}
	return path.Join(path.Dir(r.Source), r.File)
}

// Whole reads everything below the files directories of the recipes, whatever
// the recipes ask for: that may depend on the host.
func (b *Bundle) Whole() error {
	for _, src := range b.sources {
		names, err := eval.AssetNames(src)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := (&noted{src, b}).ReadFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Files are the files read so far, each once, the text of the run's recipe
// first.
func (b *Bundle) Files() []Read {
	return slices.Clone(b.read)
}

// note keeps what was read.
func (b *Bundle) note(source, file string, data []byte) {
	key := record.FileName(source, file)
	if _, known := b.files[key]; !known {
		b.read = append(b.read, Read{source, file, data})
	}
	b.files[key] = data
}

// NewBundle returns an empty bundle.
func NewBundle() *Bundle { return &Bundle{files: map[string][]byte{}, uses: map[string]string{}} }

// Source is src, with what is read of it noted. The first source is that of
// the run's recipe.
func (b *Bundle) Source(src eval.Source) eval.Source {
	if b.main == "" {
		b.main = src.Name()
	}
	b.sources = append(b.sources, src)
	return &noted{src, b}
}

// Loader is l, with the sources it opens noted.
func (b *Bundle) Loader(l eval.Loader) eval.Loader { return &notedLoader{l, b} }

// store fills in what a state holds of a recipe.
func (b *Bundle) store(st *record.State) map[string][]byte {
	if b == nil {
		return nil
	}
	st.Main, st.Uses = b.main, maps.Clone(b.uses)
	return b.files
}

type noted struct {
	eval.Source
	bundle *Bundle
}

// Main reads the recipe's text.
func (n *noted) Main() (string, []byte, error) {
	name, src, err := n.Source.Main()
	if err == nil {
		n.bundle.note(n.Name(), "", src)
	}
	return name, src, err
}

// ReadFile reads a file of the recipe.
func (n *noted) ReadFile(name string) ([]byte, error) {
	data, err := n.Source.ReadFile(name)
	if err == nil {
		n.bundle.note(n.Name(), name, data)
	}
	return data, err
}

// Match lists files of the recipe. They are noted all, so that a stored recipe
// has the same ones.
func (n *noted) Match(dir, pattern string) ([]string, error) {
	m, ok := n.Source.(block.Matcher)
	if !ok {
		return nil, fmt.Errorf("the files of %s cannot be listed", n.Name())
	}
	names, err := m.Match(dir, pattern)
	for _, name := range names {
		if err == nil {
			_, err = n.ReadFile(path.Join(dir, name))
		}
	}
	return names, err
}

type notedLoader struct {
	eval.Loader
	bundle *Bundle
}

// Open opens what a use block names.
func (l *notedLoader) Open(from eval.Source, ref string) (eval.Source, error) {
	if n, ok := from.(*noted); ok {
		from = n.Source
	}
	src, err := l.Loader.Open(from, ref)
	if err != nil {
		return nil, err
	}
	l.bundle.uses[record.FileName(from.Name(), ref)] = src.Name()
	return l.bundle.Source(src), nil
}

// stored is a source as it was stored with a state.
type stored struct {
	store *record.Store
	state *record.State
	name  string
}

// Name is that of the source when it was stored.
func (s *stored) Name() string { return s.name }

// Main reads the recipe's text.
func (s *stored) Main() (string, []byte, error) {
	src, err := s.ReadFile("")
	return s.name, src, err
}

// ReadFile reads a file of the recipe.
func (s *stored) ReadFile(name string) ([]byte, error) {
	return s.store.Assets(s.state, s.name).ReadFile(name)
}

// Match lists files that were stored of the recipe.
func (s *stored) Match(dir, pattern string) ([]string, error) {
	return block.MatchSuffixes(slices.Collect(maps.Keys(s.state.Files)), record.FileName(s.name, ""), dir, pattern)
}

// Open opens what a use block named when the state was stored.
func (s *stored) Open(from eval.Source, ref string) (eval.Source, error) {
	name, ok := s.state.Uses[record.FileName(from.Name(), ref)]
	if !ok {
		return nil, fmt.Errorf("the stored recipe does not use %s", ref)
	}
	return &stored{s.store, s.state, name}, nil
}
