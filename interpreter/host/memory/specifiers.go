package memory

import (
	"path"
	"strings"
)

// expand replaces the specifiers that name the unit.
func (d *definition) expand() {
	ext := path.Ext(d.name)
	stem := strings.TrimSuffix(d.name, ext)
	prefix, instance, _ := strings.Cut(stem, "@")
	replace := strings.NewReplacer("%%", "%", "%i", instance, "%I", unescape(instance), "%n", d.name,
		"%N", stem, "%p", prefix, "%P", unescape(prefix), "%j", prefix[strings.LastIndex(prefix, "-")+1:])
	for _, section := range d.text {
		for key, values := range section {
			for i, v := range values {
				section[key][i] = replace.Replace(v)
			}
		}
	}
}

// unescape undoes the escaping of unit names: "-" is "/" and \xNN a byte.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		var c byte
		switch {
		case s[i] == '-':
			c = '/'
		case strings.HasPrefix(s[i:], `\x`) && i+3 < len(s):
			c = unhex(s[i+2])<<4 | unhex(s[i+3])
			i += 3
		default:
			c = s[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

func unhex(c byte) byte {
	if i := strings.IndexByte("0123456789abcdef", c|0x20); i >= 0 {
		return byte(i)
	}
	return 0
}
