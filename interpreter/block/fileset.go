package block

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Matcher is what Assets may be beside: it lists files of the recipe. What is
// listed may be read later, also when the recipe is stored.
type Matcher interface {
	// Match lists the files below dir, "." for the recipe's directory, whose
	// names relative to it match a pattern, sorted; see [MatchFiles].
	Match(dir, pattern string) ([]string, error)
}

// MatchFiles lists those of the names that lie below dir, "." for all, and
// match a pattern there: * and ? stand for what is no slash, ** for any number
// of directories, [a-z] and {a,b} for one of several. Names are relative and
// clean; the result is relative to dir and sorted.
func MatchFiles(names []string, dir, pattern string) ([]string, error) {
	if !fs.ValidPath(dir) {
		return nil, fmt.Errorf("%q is no directory of the recipe: write a clean path relative to the recipe's directory", dir)
	}
	re, err := regexp.Compile(globExpression(pattern))
	if err != nil || pattern == "" {
		return nil, fmt.Errorf("%q is no pattern for names of files", pattern)
	}
	found := []string{}
	for _, name := range names {
		rel := name
		if dir != "." {
			below, ok := strings.CutPrefix(name, dir+"/")
			if !ok {
				continue
			}
			rel = below
		}
		if re.MatchString(rel) {
			found = append(found, rel)
		}
	}
	slices.Sort(found)
	return found, nil
}

// globExpression is a pattern as a regular expression.
func globExpression(pattern string) string {
	var b strings.Builder
	b.WriteString("^")
	braces := 0
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:[^/]+/)*")
			rest = rest[3:]
			continue
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
			continue
		}
		switch c := rest[:1]; {
		case c == "*":
			b.WriteString("[^/]*")
		case c == "?":
			b.WriteString("[^/]")
		case c == "[" && strings.Contains(rest, "]"):
			end := strings.Index(rest, "]")
			b.WriteString("[" + strings.Replace(regexp.QuoteMeta(rest[1:end]), `\-`, "-", -1) + "]")
			rest = rest[end:]
		case c == "{":
			braces++
			b.WriteString("(?:")
		case c == "}" && braces > 0:
			braces--
			b.WriteString(")")
		case c == "," && braces > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(c))
		}
		rest = rest[1:]
	}
	return b.String() + strings.Repeat(")", braces) + "$"
}

// MatchSuffixes is MatchFiles for names with a prefix, such as files that are
// stored with a recipe: names without it are no files of the recipe.
func MatchSuffixes(names []string, prefix, dir, pattern string) ([]string, error) {
	var files []string
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, prefix); ok && file != "" {
			files = append(files, path.Clean(file))
		}
	}
	return MatchFiles(files, dir, pattern)
}
