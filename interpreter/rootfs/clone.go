package rootfs

import (
	"path"
	"strings"

	"hostler/interpreter/host"
)

// findTwin returns another complete tree beside dir that was unpacked from the
// same image, "" if there is none. Its files are no more than a guess of what
// the image holds: whoever lived in it may have changed them, and may do so
// now.
func findTwin(f host.FileView, dir, digest string) string {
	names, err := host.Names(f, stateDir(dir))
	if err != nil {
		return ""
	}
	for _, name := range names {
		base, ok := strings.CutSuffix(name, ".json")
		if !ok || base == path.Base(dir) {
			continue
		}
		twin := path.Join(path.Dir(dir), base)
		if m, ok, err := ReadMark(f, twin); err == nil && ok && m.Digest == digest {
			return twin
		}
	}
	return ""
}
