package rootfs

import (
	"archive/tar"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mergeGlobal adds a global header's records to those in force. Records that
// say where and how long an entry is make no sense for all entries.
func mergeGlobal(old map[string]string, h *tar.Header) (map[string]string, error) {
	global := maps.Clone(old)
	if global == nil {
		global = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(h.PAXRecords)) {
		if key == "path" || key == "linkpath" || key == "size" || strings.HasPrefix(key, "GNU.sparse.") {
			return nil, fmt.Errorf("a global header that sets %q for all entries is refused", key)
		}
		global[key] = h.PAXRecords[key]
	}
	return global, nil
}

// applyGlobal sets what the entry's own records leave to the global ones.
func applyGlobal(a *attrs, own, global map[string]string) error {
	for _, key := range []string{"mtime", "uid", "gid"} {
		value, ok := global[key]
		if _, said := own[key]; !ok || said || value == "" {
			continue
		}
		if err := setGlobal(a, key, value); err != nil {
			return fmt.Errorf("global header: %s %q: %w", key, value, err)
		}
	}
	return nil
}

func setGlobal(a *attrs, key, value string) error {
	if key == "mtime" {
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		whole := int64(seconds)
		a.mtime = nanoseconds(time.Unix(whole, int64((seconds-float64(whole))*1e9)))
		return nil
	}
	id, err := strconv.Atoi(value)
	if key == "uid" {
		a.uid = id
	} else {
		a.gid = id
	}
	return err
}
