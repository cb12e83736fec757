package unitfile

import (
	_ "embed" // the table of directives
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed directives.txt
var directivesText string

// directives is section → key → version.
var directives = sync.OnceValue(func() map[string]map[string]int {
	table := map[string]map[string]int{}
	section := ""
	for text := range strings.Lines(directivesText) {
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case strings.HasPrefix(fields[0], "["):
			section = strings.Trim(fields[0], "[]")
			table[section] = map[string]int{}
			for _, group := range fields[1:] {
				for key, since := range table[group] {
					table[section][key] = since
				}
			}
		default:
			since, _ := strconv.Atoi(fields[0])
			for _, key := range fields[1:] {
				table[section][key] = since
			}
		}
	}
	return table
})

// Known says whether systemd has that directive in that section, of unit files
// or of .nspawn files ([Exec], [Files], [Network]), and since which version; 0
// is before 229. Names and sections that start with "X-" are for others to use
// and always known.
func Known(section, key string) (since int, ok bool) {
	if strings.HasPrefix(section, "X-") || strings.HasPrefix(key, "X-") {
		return 0, true
	}
	if strings.HasPrefix(section, "@") {
		return 0, false
	}
	since, ok = directives()[section][key]
	return since, ok
}

// Directives lists the directives of a section, sorted; nil for a section that
// is not known.
func Directives(section string) []string {
	if strings.HasPrefix(section, "@") {
		return nil
	}
	var keys []string
	for key := range directives()[section] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
