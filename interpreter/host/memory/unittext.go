package memory

import (
	"slices"
	"strings"
	"time"
)

// unitText is the content of unit files: section, key, values in order.
type unitText map[string]map[string][]string

// add reads one file on top of what is there. An empty value clears a list;
// what makes no sense is passed over, as systemd does with a warning.
func (t unitText) add(content string) {
	section := ""
	for _, line := range logicalLines(content) {
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
			if t[section] == nil {
				t[section] = map[string][]string{}
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if value == "" {
			delete(t[section], key)
		} else {
			t[section][key] = append(t[section][key], value)
		}
	}
}

// logicalLines joins continued lines and drops comments and blank lines.
func logicalLines(content string) []string {
	var lines []string
	pending := ""
	for _, line := range strings.Split(content, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if strings.HasSuffix(line, `\`) {
			pending += strings.TrimSuffix(line, `\`) + " "
			continue
		}
		if line = strings.TrimSpace(pending + line); line != "" {
			lines = append(lines, line)
		}
		pending = ""
	}
	return lines
}

func (t unitText) all(section, key string) []string { return t[section][key] }

// one is the value that counts where a key has only one: the last.
func (t unitText) one(section, key string) string {
	if list := t[section][key]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

func (t unitText) yes(section, key string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t", "on"}, strings.ToLower(t.one(section, key)))
}

// words are the words of all values of a key.
func (t unitText) words(section, key string) []string {
	return strings.Fields(strings.Join(t[section][key], " "))
}

// span reads a duration: seconds, or the first of systemd's units in it.
func (t unitText) span(section, key string, otherwise time.Duration) time.Duration {
	v := t.one(section, key)
	switch v {
	case "":
		return otherwise
	case "infinity":
		return 0
	}
	v = strings.NewReplacer("min", "m", "msec", "ms", "sec", "s", " ", "").Replace(v)
	if strings.Trim(v, "0123456789.") == "" {
		v += "s"
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return otherwise
	}
	return d
}
