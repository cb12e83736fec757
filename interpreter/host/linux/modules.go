package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"hostler/interpreter/host"
)

// ModuleLoaded says whether the module is loaded or built in.
func (k kernel) ModuleLoaded(ctx context.Context, name string) (bool, error) {
	if err := validModule(name); err != nil {
		return false, err
	}
	name = moduleName(name)
	// Modules that are loaded, and those built in that have parameters.
	if _, err := k.files.Stat("/sys/module/" + name); err == nil {
		return true, nil
	}
	text, err := optional(k.files, "/proc/modules")
	if err != nil {
		return false, err
	}
	if firstFieldIs(text, name) {
		return true, nil
	}
	return k.listed(ctx, "modules.builtin", name)
}

// ModuleAvailable says whether the module is loaded or can be loaded for the
// running kernel.
func (k kernel) ModuleAvailable(ctx context.Context, name string) (bool, error) {
	loaded, err := k.ModuleLoaded(ctx, name)
	if err != nil || loaded {
		return loaded, err
	}
	return k.listed(ctx, "modules.dep", name)
}

// listed looks for a module in one of depmod's lists for the running kernel.
// Where there are no lists there are no modules.
func (k kernel) listed(ctx context.Context, list, name string) (bool, error) {
	release, err := k.Release(ctx)
	if err != nil {
		return false, err
	}
	for _, dir := range []string{"/lib/modules", "/usr/lib/modules"} {
		text, err := optional(k.files, path.Join(dir, release, list))
		if err != nil || fileListed(text, moduleName(name)) {
			return err == nil, err
		}
	}
	return false, nil
}

// firstFieldIs looks for a module in the lines of /proc/modules.
func firstFieldIs(text, name string) bool {
	for _, line := range lines(text) {
		if first, _, _ := strings.Cut(line, " "); moduleName(first) == name {
			return true
		}
	}
	return false
}

// fileListed looks for a module in the lines of modules.dep
// ("kernel/net/x.ko.zst: kernel/y.ko.zst") or modules.builtin
// ("kernel/fs/x.ko").
func fileListed(text, name string) bool {
	for _, line := range lines(text) {
		file, _, _ := strings.Cut(line, ":")
		base, _, ok := strings.Cut(path.Base(file), ".ko")
		if ok && moduleName(base) == name {
			return true
		}
	}
	return false
}

// moduleName is the kernel's spelling: in the name of a module a dash is an
// underscore.
func moduleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

func validModule(name string) error {
	if name == "" || name[0] == '-' || strings.ContainsAny(name, "/. \t\n\x00") {
		return fmt.Errorf("%q is not the name of a kernel module", name)
	}
	return nil
}

// optional reads a file that may not be there.
func optional(files host.FileView, name string) (string, error) {
	text, err := readFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}
