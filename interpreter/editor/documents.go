package editor

import (
	"path/filepath"
	"strings"
	"sync"
)

// documents are the documents that the client has open.
type documents struct {
	mu   sync.Mutex
	open map[string]*document // by URI
	// dirty are those to be checked, in the order in which they were changed;
	// wake tells the checker.
	dirty []string
	wake  chan struct{}
	// shown are the URIs with diagnostics, by the document they came from.
	shown map[string][]string
}

func newDocuments() *documents {
	return &documents{open: map[string]*document{}, wake: make(chan struct{}, 1), shown: map[string][]string{}}
}

// put opens a document, or another version of it, and has it checked.
func (s *documents) put(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[d.uri] = d
	s.mark(d.uri)
	if d.kind() == kindRecipe {
		return
	}
	for uri, other := range s.open { // a file of a recipe, or the configuration
		if d.path != "" && other.kind() == kindRecipe && below(d.path, filepath.Dir(other.path)) {
			s.mark(uri)
		}
	}
}

func below(name, dir string) bool { return strings.HasPrefix(name, dir+string(filepath.Separator)) }

// mark has a document checked.
func (s *documents) mark(uri string) {
	for _, other := range s.dirty {
		if other == uri {
			return
		}
	}
	s.dirty = append(s.dirty, uri)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// markAll has every document checked again: files beside them changed.
func (s *documents) markAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.open {
		s.mark(uri)
	}
}

// close forgets a document.
func (s *documents) close(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, uri)
	s.mark(uri)
}

// get is a document, nil when it is not open.
func (s *documents) get(uri string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[uri]
}

// at is the open document of a file, nil if there is none.
func (s *documents) at(file string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.open {
		if d.path == file {
			return d
		}
	}
	return nil
}

// read is the text of a file as the client has it.
func (s *documents) read(name string) ([]byte, bool) {
	if d := s.at(filepath.FromSlash(name)); d != nil {
		return []byte(d.raw), true
	}
	return nil, false
}

// uri is the URI of a file: as the client writes it where it is open.
func (s *documents) uri(name string) string {
	if d := s.at(filepath.FromSlash(name)); d != nil {
		return d.uri
	}
	return uriOf(name)
}

// next is a document to be checked, nil with its URI for one that was closed; ok
// is false when there is none.
func (s *documents) next() (uri string, d *document, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.dirty) == 0 {
		return "", nil, false
	}
	uri = s.dirty[0]
	s.dirty = s.dirty[1:]
	return uri, s.open[uri], true
}

// show notes which URIs have diagnostics of a document now, and returns those
// that had and have none any more.
func (s *documents) show(uri string, now map[string][]Diagnostic) (gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.shown[uri] {
		if _, still := now[old]; !still {
			gone = append(gone, old)
		}
	}
	delete(s.shown, uri)
	for name := range now {
		s.shown[uri] = append(s.shown[uri], name)
	}
	return gone
}
