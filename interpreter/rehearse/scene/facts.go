package scene

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// FactsVersion is the version of the format of recorded facts.
const FactsVersion = "1"

// Recorded are the facts of a real host and what tests need beside them to
// describe it: what programs it has and what it cannot write to.
type Recorded struct {
	FormatVersion string `json:"format_version"`
	host.Facts
	OSRelease   string   `json:"os_release"`
	Executables []string `json:"executables"`
	ReadOnly    []string `json:"read_only,omitempty"`
	Cgroup      int      `json:"cgroup,omitempty"`
}

// programDirs are where programs are looked for.
func programDirs() []string {
	return []string{"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
}

// maxText bounds an os-release, in bytes.
const maxText = 1 << 20

// Record describes a host. Nothing of it is secret: no content but that of
// os-release is read.
func Record(ctx context.Context, v host.View) (Recorded, error) {
	r := Recorded{FormatVersion: FactsVersion, Executables: []string{}}
	var err error
	if r.Facts, err = host.ReadFacts(ctx, v); err != nil {
		return r, err
	}
	r.Root = "/"
	if r.OS.Path != "" {
		file, err := v.Files.Open(r.OS.Path)
		if err != nil {
			return r, fmt.Errorf("read %s: %w", r.OS.Path, err)
		}
		data, err := io.ReadAll(io.LimitReader(file, maxText))
		if err := errors.Join(err, file.Close()); err != nil {
			return r, fmt.Errorf("read %s: %w", r.OS.Path, err)
		}
		r.OSRelease = string(data)
	}
	if r.Executables, err = executables(v.Files); err != nil {
		return r, err
	}
	for _, dir := range []string{"/usr", "/etc", "/var", "/opt", "/usr/local"} {
		if m, err := v.Storage.Mount(ctx, dir); err == nil && m.ReadOnly {
			r.ReadOnly = append(r.ReadOnly, dir)
		}
	}
	if version, err := v.Kernel.CgroupVersion(ctx); err == nil {
		r.Cgroup = version
	}
	return r, nil
}

// executables lists the programs of a host by path, without the directory where
// that is /usr/bin.
func executables(f host.FileView) ([]string, error) {
	found := []string{}
	for _, dir := range programDirs() {
		names, err := host.Names(f, dir)
		if host.Absent(err) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list the programs in %s: %w", dir, err)
		}
		for _, name := range names {
			info, err := f.Stat(path.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				continue
			}
			if dir == "/usr/bin" {
				found = append(found, name)
				continue
			}
			found = append(found, path.Join(dir, name))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// ParseFacts reads recorded facts.
func ParseFacts(data []byte) (Recorded, error) {
	var r Recorded
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&r); err != nil {
		return r, fmt.Errorf("these are no recorded facts: %w; hostler facts --record writes them", err)
	}
	if r.FormatVersion != FactsVersion {
		return r, fmt.Errorf("format_version is %q, and this release reads %q; record the facts again", r.FormatVersion, FactsVersion)
	}
	return r, nil
}

// recorded describes the host by recorded facts.
func (b *builder) recorded(name string) error {
	text, err := b.read(name)
	if err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	r, err := ParseFacts([]byte(text))
	if err != nil {
		return fmt.Errorf("facts %s: %w", name, err)
	}
	r.describe(b.opts)
	return nil
}

// describe makes the host in memory one with these facts.
func (r Recorded) describe(o *memory.Options) {
	o.OSRelease, o.Hostname, o.Kernel.Release, o.Systemd, o.Arch = r.OSRelease, r.Hostname, r.Kernel, r.Systemd, r.Arch
	o.Executables, o.ReadOnly, o.Kernel.Cgroup = append(o.Executables, r.Executables...), append(o.ReadOnly, r.ReadOnly...), r.Cgroup
	o.Offline = !r.Live
	o.NoSystemdContainer = !slices.Contains(r.Executables, "systemd-nspawn")
}

// Find lists the files of recorded facts and of os-release below a directory.
func Find(fsys fs.FS, dir string) (names []string, err error) {
	err = fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && FactsFile(name) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// FactsFile says whether a file holds facts, by its name.
func FactsFile(name string) bool {
	ext := path.Ext(name)
	return ext == ".os-release" || path.Base(name) == "os-release" || ext == ".json" && len(name) > len(".facts.json") && name[len(name)-len(".facts.json"):] == ".facts.json"
}

// ParseHost makes a host of a file of recorded facts, or of the text of an
// os-release, which is all that is then known of it; whole says which.
func ParseHost(name string, data []byte) (o memory.Options, whole bool, err error) {
	o.Kernel.Sysctl = parameters()
	if path.Ext(name) != ".json" {
		o.OSRelease = string(data)
		return o, false, nil
	}
	r, err := ParseFacts(data)
	if err != nil {
		return o, false, err
	}
	grow(&o)
	o.Kernel.Sysctl = parameters()
	r.describe(&o)
	return o, true, nil
}
