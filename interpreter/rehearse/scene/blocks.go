package scene

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"

	"hostler/interpreter/block"
	"hostler/interpreter/host/memory"
)

// contents are how blocks write what a file holds.
type contents struct {
	Content *string
	Base64  *string
	Source  *string
}

type fileBlock struct {
	Path    string  `hcl:"path,label"`
	Content *string `hcl:"content,optional"`
	Base64  *string `hcl:"content_base64,optional"`
	Source  *string `hcl:"source,optional"`
	Mode    string  `hcl:"mode,optional"`
	UID     int     `hcl:"uid,optional"`
	GID     int     `hcl:"gid,optional"`
}

type directoryBlock struct {
	Path string `hcl:"path,label"`
	Mode string `hcl:"mode,optional"`
	UID  int    `hcl:"uid,optional"`
	GID  int    `hcl:"gid,optional"`
}

type linkBlock struct {
	Path   string `hcl:"path,label"`
	Target string `hcl:"target"`
}

type unitBlock struct {
	Name    string  `hcl:"name,label"`
	Content *string `hcl:"content,optional"`
	State   string  `hcl:"state,optional"`
	Enabled bool    `hcl:"enabled,optional"`
}

type machineBlock struct {
	Name      string      `hcl:"name,label"`
	State     string      `hcl:"state,optional"`
	Enabled   bool        `hcl:"enabled,optional"`
	OSRelease string      `hcl:"os_release,optional"`
	Files     []fileBlock `hcl:"file,block"`
	Units     []unitBlock `hcl:"unit,block"`
}

type listenerBlock struct {
	Address    string `hcl:"address,label"`
	Executable string `hcl:"executable,optional"`
	Root       string `hcl:"root,optional"`
}

type mountBlock struct {
	Point    string `hcl:"path,label"`
	Type     string `hcl:"type,optional"`
	Bytes    int64  `hcl:"bytes,optional"`
	ReadOnly bool   `hcl:"read_only,optional"`
	NoExec   bool   `hcl:"noexec,optional"`
}

// bytes are the bytes that a block writes, from one of its arguments.
func (b *builder) bytes(what string, c contents) (string, error) {
	given := 0
	for _, s := range []*string{c.Content, c.Base64, c.Source} {
		if s != nil {
			given++
		}
	}
	switch {
	case given > 1:
		return "", fmt.Errorf("%s has more than one of content, content_base64 and source", what)
	case c.Content != nil:
		return *c.Content, nil
	case c.Base64 != nil:
		data, err := base64.StdEncoding.DecodeString(*c.Base64)
		if err != nil {
			return "", fmt.Errorf("%s: content_base64 is no base64: %w", what, err)
		}
		return string(data), nil
	case c.Source != nil:
		return b.read(*c.Source)
	}
	return "", nil
}

func (b *builder) read(name string) (string, error) {
	clean, err := within(name)
	if err != nil {
		return "", err
	}
	data, err := fs.ReadFile(b.assets, clean)
	return string(data), err
}

func (b *builder) file(f fileBlock) (memory.File, error) {
	text, err := b.bytes("file "+f.Path, contents{f.Content, f.Base64, f.Source})
	if err != nil {
		return memory.File{}, err
	}
	mode, err := parseMode(f.Mode)
	if err == nil {
		err = block.CheckPath(f.Path)
	}
	if err != nil {
		return memory.File{}, fmt.Errorf("file %s: %w", f.Path, err)
	}
	return memory.File{Content: text, Mode: mode, UID: f.UID, GID: f.GID}, nil
}

func parseMode(s string) (uint32, error) {
	if s == "" {
		return 0, nil
	}
	return block.ParseMode(s)
}

// state reads "running" or "stopped"; "" is stopped.
func state(what, s string) (running bool, err error) {
	switch s {
	case "running", "started":
		return true, nil
	case "", "stopped":
		return false, nil
	}
	return false, fmt.Errorf("%s: state is \"running\" or \"stopped\", not %q", what, s)
}

func (b *builder) unit(u unitBlock) (memory.Unit, error) {
	running, err := state("unit "+u.Name, u.State)
	out := memory.Unit{Name: u.Name, Enabled: u.Enabled, Running: running}
	if u.Content != nil {
		out.Content = *u.Content
	}
	return out, errors.Join(err, block.CheckUnitName(u.Name))
}

func (b *builder) machine(m machineBlock) (memory.Machine, error) {
	running, err := state("machine "+m.Name, m.State)
	out := memory.Machine{Name: m.Name, Running: running, Enabled: m.Enabled, OSRelease: m.OSRelease, Files: map[string]memory.File{}}
	for _, f := range m.Files {
		file, bad := b.file(f)
		err = errors.Join(err, bad)
		out.Files[f.Path] = file
	}
	for _, u := range m.Units {
		unit, bad := b.unit(u)
		err = errors.Join(err, bad)
		out.Units = append(out.Units, unit)
	}
	return out, err
}
