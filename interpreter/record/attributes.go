package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// dress gives a file or link its extended attributes and its time.
func dress(f host.Files, name string, side Sidecar) error {
	if err := writeXattrs(f, name, side.Xattrs); err != nil {
		return err
	}
	return setTimes(f, name, side)
}

// dressed does so for a file that is not in its place yet, durably: once it is,
// nobody would miss what a power loss took.
func dressed(f host.Files, side Sidecar) func(tmp string) error {
	return func(tmp string) error {
		if err := dress(f, tmp, side); err != nil {
			return err
		}
		file, err := f.Open(tmp)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	}
}

func setTimes(f host.Files, name string, side Sidecar) error {
	if side.State.Kind == thing.Link {
		if s, ok := f.(host.Special); ok {
			return s.Lchtimes(name, side.ModTime)
		}
		return nil
	}
	at := time.Unix(0, side.ModTime)
	return f.Chtimes(name, at, at)
}

func readXattrs(f host.Files, name string) (map[string][]byte, error) {
	s, ok := f.(host.Special)
	if !ok {
		return nil, nil
	}
	attrs, err := s.Llistxattr(name)
	if err != nil || len(attrs) == 0 {
		return nil, ignoreUnsupported(err)
	}
	values := map[string][]byte{}
	for _, attr := range attrs {
		if values[attr], err = s.Lgetxattr(name, attr); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func writeXattrs(f host.Files, name string, values map[string][]byte) error {
	s, ok := f.(host.Special)
	if !ok {
		return nil
	}
	for _, attr := range slices.Sorted(maps.Keys(values)) {
		if err := s.Lsetxattr(name, attr, values[attr]); err != nil {
			return fmt.Errorf("attribute %s of %s: %w", attr, name, err)
		}
	}
	return nil
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
