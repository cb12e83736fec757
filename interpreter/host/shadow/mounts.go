package shadow

import (
	"context"
	"strings"

	"hostler/interpreter/host"
)

// source is a base that nodes are from: the files of a host, or of a machine
// that runs on it.
type source struct {
	files host.FileView
	// storage is asked which mounts are read-only.
	storage host.StorageView
	// readOnly caches, by directory of the base, whether its mount is.
	readOnly map[string]bool
	// mounts are the mount points of the base that are still mounted; nil
	// before they were asked for.
	mounts map[string]bool
}

func newSource(v host.View) *source {
	return &source{files: v.Files, storage: v.Storage, readOnly: map[string]bool{}}
}

// isReadOnly says whether n lies on a read-only mount. A mount that cannot be
// asked for is taken as writable.
func (t *tree) isReadOnly(n *node) bool {
	s := n.from
	ro, known := s.readOnly[n.mount]
	if !known {
		m, err := s.storage.Mount(context.Background(), n.mount)
		ro = err == nil && m.ReadOnly
		s.readOnly[n.mount] = ro
	}
	return ro
}

// points are the mount points of the base; none where they are not known.
func (s *source) points() map[string]bool {
	if s.mounts == nil {
		s.mounts = map[string]bool{}
		all, err := s.storage.Mounts(context.Background())
		for _, m := range all {
			s.mounts[m.Point] = err == nil
		}
	}
	return s.mounts
}

// isPoint says whether something is mounted on n itself.
func (t *tree) isPoint(n *node) bool {
	return n.base != "" && n.base != "/" && n.from.points()[n.base]
}

// mountedBelow says whether a mount point of the base lies below n, wherever
// that was moved. What was not looked at is as in the base.
func (t *tree) mountedBelow(n *node) bool {
	for _, child := range n.entries {
		if child != nil && (t.isPoint(child) || t.mountedBelow(child)) {
			return true
		}
	}
	if !n.isDir() || n.base == "" {
		return false
	}
	for point := range n.from.points() {
		below, ok := strings.CutPrefix(point, strings.TrimSuffix(n.base, "/")+"/")
		first, _, _ := strings.Cut(below, "/")
		if _, known := n.entries[first]; ok && !known {
			return true
		}
	}
	return false
}
