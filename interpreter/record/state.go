package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// State is what a host is driven to, as plain data: enough to drive to it
// again without the recipe.
type State struct {
	Recipe      Recipe `json:"recipe"`
	Fingerprint string `json:"fingerprint"`
	// Prefix is the install prefix, absent at the default.
	Prefix string `json:"prefix,omitempty"`
	// Main names the recipe's source. Files are what was read of it and of
	// the recipes it uses, by source and name (see FileName), with the digest
	// of the bytes. Uses tells which source a use block means.
	Main  string            `json:"main,omitempty"`
	Files map[string]string `json:"files,omitempty"`
	Uses  map[string]string `json:"uses,omitempty"`
	// Inputs are the values of variables that are not sensitive.
	Inputs map[string]json.RawMessage `json:"inputs,omitempty"`
	// Credentials names the sensitive variables.
	Credentials []string       `json:"credentials,omitempty"`
	Steps       []block.Stored `json:"steps"`
}

// SaveState stores a state and the bytes of its files, durably, and returns
// its name. files are by the names of State.Files, whose digests are filled
// in. It is written before a record names it.
func (s *Store) SaveState(_ context.Context, st State, files map[string][]byte) (string, error) {
	name, data, err := Name(&st, files)
	if err != nil {
		return "", err
	}
	if err := s.prepare(StateDir); err != nil {
		return "", err
	}
	for _, file := range sortedNames(files) {
		if err := s.saveOnce(blobFile(st.Files[file]), files[file]); err != nil {
			return "", err
		}
	}
	return name, s.saveOnce(stateFile(name), data)
}

// Name fills in the digests of a state's files and returns its name and
// bytes, without storing anything.
func Name(st *State, files map[string][]byte) (string, []byte, error) {
	st.Files = map[string]string{}
	for file, data := range files {
		st.Files[file] = thing.Digest(data)
	}
	data, err := json.Marshal(st)
	return thing.Digest(data), data, err
}

// saveOnce writes a content-addressed file that is not there yet.
func (s *Store) saveOnce(name string, data []byte) error {
	if info, err := host.Lstat(s.host.Files, name); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		return nil
	}
	return s.replace(name, data)
}

// LoadState reads a state and verifies that its bytes are those that were
// stored.
func (s *Store) LoadState(_ context.Context, name string) (*State, error) {
	data, err := readPrivate(s.host.Files, stateFile(name))
	if err == nil && thing.Digest(data) != name {
		err = errors.New("its bytes are not those that were stored")
	}
	if err != nil {
		return nil, fmt.Errorf("the stored state %s cannot be read: %w; give the recipe again with hostler apply", stateFile(name), err)
	}
	st := &State{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fmt.Errorf("the stored state %s cannot be read: %w", stateFile(name), err)
	}
	return st, nil
}

// FileName is the name in State.Files of a source's file; the recipe's own
// text is its file "".
func FileName(source, file string) string { return source + "//" + file }

// Files reads all files that were stored with st, by name.
func (s *Store) Files(st *State) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, digest := range st.Files {
		data, err := s.blob(digest)
		if err != nil {
			return nil, fmt.Errorf("file %s of the stored recipe: %w", name, err)
		}
		files[name] = data
	}
	return files, nil
}

func (s *Store) blob(digest string) ([]byte, error) {
	data, err := readPrivate(s.host.Files, blobFile(digest))
	if err == nil && thing.Digest(data) != digest {
		err = errors.New("its bytes are not those that were stored")
	}
	return data, err
}

// Assets reads the files of a source as they were stored with st.
func (s *Store) Assets(st *State, source string) block.Assets { return storedAssets{s, st, source} }

type storedAssets struct {
	store  *Store
	state  *State
	source string
}

func (a storedAssets) ReadFile(name string) ([]byte, error) {
	digest, ok := a.state.Files[FileName(a.source, name)]
	if !ok {
		return nil, fmt.Errorf("the stored recipe has no file %s", name)
	}
	data, err := a.store.blob(digest)
	if err != nil {
		return nil, fmt.Errorf("file %s of the stored recipe: %w", name, err)
	}
	return data, nil
}

// Sweep removes states, blobs and backups that r does not name any more. What
// cannot be removed is left for the next time.
func (s *Store) Sweep(ctx context.Context, r *Record) error {
	keep := map[string]bool{}
	for _, name := range []string{r.Applied, r.Target, r.Previous} {
		if name == "" {
			continue
		}
		keep[stateFile(name)] = true
		if st, err := s.LoadState(ctx, name); err == nil {
			for _, digest := range st.Files {
				keep[blobFile(digest)] = true
			}
		}
	}
	for _, c := range r.Claims {
		if c.Origin.Backup != "" {
			for _, name := range backupFiles(c.Origin.Backup) {
				keep[name] = true
			}
		}
	}
	return errors.Join(s.sweepDir(StateDir, keep), s.sweepDir(BackupDir, keep))
}

func (s *Store) sweepDir(dir string, keep map[string]bool) error {
	names, err := readDir(s.host.Files, dir)
	for _, base := range names {
		if name := path.Join(dir, base); !keep[name] {
			err = errors.Join(err, s.host.Files.RemoveAll(name))
		}
	}
	return err
}

// States lists the stored states by name, for a reset without a usable record.
func (s *Store) States() ([]string, error) {
	names, err := readDir(s.host.Files, StateDir)
	var states []string
	for _, base := range names {
		if hex, ok := strings.CutSuffix(base, ".json"); ok {
			states = append(states, "sha256:"+hex)
		}
	}
	slices.Sort(states)
	return states, err
}

func stateFile(name string) string {
	return path.Join(StateDir, strings.TrimPrefix(name, "sha256:")+".json")
}

func blobFile(digest string) string {
	return path.Join(StateDir, strings.TrimPrefix(digest, "sha256:")+".blob")
}

func sortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
