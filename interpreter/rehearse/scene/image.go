package scene

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"hostler/interpreter/host/memory"
)

// imageBlock is an image that a machine's root is made of: a small system with
// an os-release, sh, true, false, sleep and multi-user.target, and what the
// block adds.
type imageBlock struct {
	// Reference is a registry reference, oci-layout:PATH[:tag], an https URL
	// or the path of a tar on the host.
	Reference   string      `hcl:"reference,label"`
	OSRelease   *string     `hcl:"os_release,optional"`
	Platform    string      `hcl:"platform,optional"`
	Executables []string    `hcl:"executables,optional"`
	Files       []fileBlock `hcl:"file,block"`
	Units       []unitBlock `hcl:"unit,block"`
}

// image puts an image where its reference says.
func (b *builder) image(i imageBlock) error {
	layer, err := b.layer(i)
	if err != nil {
		return fmt.Errorf("image %s: %w", i.Reference, err)
	}
	system, arch, _ := strings.Cut(i.Platform, "/")
	if i.Platform == "" {
		system, arch = "linux", runtime.GOARCH
		if b.opts.Arch != "" {
			arch = b.opts.Arch
		}
	}
	packed := pack(layer, system, arch)
	switch dir, isLayout := strings.CutPrefix(i.Reference, "oci-layout:"); {
	case isLayout:
		return b.layout(dir, packed)
	case path.IsAbs(i.Reference):
		b.opts.Files[i.Reference] = memory.File{Content: string(layer)}
		return nil
	case strings.HasPrefix(i.Reference, "https://"):
		text := string(layer)
		return b.serve(urlBlock{URL: i.Reference, Content: &text})
	}
	return b.registry(i.Reference, packed)
}

// layer is the tar of the root.
func (b *builder) layer(i imageBlock) ([]byte, error) {
	tree := map[string]memory.File{
		"etc/os-release": {Content: "ID=image\nNAME=Image\n"},
		"usr/lib/systemd/system/multi-user.target": {Content: "[Unit]\nDescription=Multi-User System\n"},
	}
	if i.OSRelease != nil {
		tree["etc/os-release"] = memory.File{Content: *i.OSRelease}
	}
	for _, tool := range append([]string{"sh", "true", "false", "sleep"}, i.Executables...) {
		if !path.IsAbs(tool) {
			tool = "/usr/bin/" + tool
		}
		tree[strings.TrimPrefix(tool, "/")] = memory.File{Content: "#!", Mode: 0o755}
	}
	var errs []error
	for _, f := range i.Files {
		file, err := b.file(f)
		errs = append(errs, err)
		tree[strings.TrimPrefix(f.Path, "/")] = file
	}
	for _, u := range i.Units {
		text := "[Service]\nExecStart=/usr/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n"
		set(&text, u.Content)
		tree["usr/lib/systemd/system/"+u.Name] = memory.File{Content: text}
		if u.Enabled {
			tree["etc/systemd/system/multi-user.target.wants/"+u.Name] = memory.File{Link: "/usr/lib/systemd/system/" + u.Name}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return Archive(tree)
}

// directories are those of every image.
func directories() []string {
	return []string{"etc", "etc/systemd", "etc/systemd/system", "usr", "usr/bin", "usr/lib", "usr/lib/systemd", "usr/lib/systemd/system", "run", "var", "var/lib", "tmp"}
}

// Archive is a tar of a tree by names without a leading slash, with the
// directories that every system has.
func Archive(tree map[string]memory.File) ([]byte, error) {
	dirs := map[string]bool{}
	for _, dir := range directories() {
		dirs[dir] = true
	}
	for file := range tree {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := w.WriteHeader(&tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if err := member(w, file, tree[file]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func member(w *tar.Writer, file string, f memory.File) error {
	h := &tar.Header{Name: file, Typeflag: tar.TypeReg, Mode: int64(f.Mode), Uid: f.UID, Gid: f.GID, Size: int64(len(f.Content))}
	if h.Mode == 0 {
		h.Mode = 0o644
	}
	if f.Link != "" {
		h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, f.Link, 0
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write([]byte(f.Content)[:h.Size])
	return err
}
