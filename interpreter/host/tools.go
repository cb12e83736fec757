package host

import (
	"fmt"
	"path"
	"strings"
)

// ToolPath is where executables are looked for, on every host alike, whatever
// PATH the program was started with.
const ToolPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LookTool finds an executable on the host and returns its path. A name with a
// slash must be absolute and is taken as it stands; any other is looked up in
// [ToolPath]. An executable is, after links, a regular file with any execute
// bit. When there is none the error wraps ErrNoTool and names the tool.
func LookTool(f FileView, name string) (string, error) {
	if path.IsAbs(name) && executable(f, path.Clean(name)) {
		return path.Clean(name), nil
	}
	if name != "" && !strings.Contains(name, "/") {
		for _, dir := range strings.Split(ToolPath, ":") {
			if full := path.Join(dir, name); path.Base(full) == name && executable(f, full) {
				return full, nil
			}
		}
	}
	return "", fmt.Errorf("%q: %w", name, ErrNoTool)
}

// executable takes what cannot be looked at for absent, as a shell does.
func executable(f FileView, name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
