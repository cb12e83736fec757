package editor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"hostler/interpreter/unitfile"
)

// texts completes inside of quotes.
func (c *completer) texts() {
	if c.heredoc {
		c.unitLines()
		return
	}
	at := c.quotedPrefix()
	if path := c.indexed(); path != nil {
		c.labels(at, path, false)
		return
	}
	a := c.body.attr(c.attr.name)
	if a == nil {
		return
	}
	for _, v := range a.OneOf {
		c.add(0, at, v, v, CompletionItem{Kind: itemValue, Documentation: shown(attrDoc(*a))})
	}
	if a.Asset {
		c.files(at)
	}
}

// maxFiles bounds how many files are offered.
const maxFiles = 200

// files offers the files of the recipe.
func (c *completer) files(at span) {
	if c.document.path == "" {
		return
	}
	top := filepath.Dir(c.document.path)
	found := 0
	_ = filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error { // what cannot be read is not offered
		switch {
		case err != nil || found >= maxFiles:
			return fs.SkipAll
		case entry.IsDir() && name != top && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "tests"):
			return fs.SkipDir
		case entry.Type().IsRegular() && filepath.Ext(name) != ".hcl":
			if rel, err := filepath.Rel(top, name); err == nil {
				found++
				c.add(0, at, filepath.ToSlash(rel), filepath.ToSlash(rel), CompletionItem{Kind: itemFile, InsertTextFormat: 1})
			}
		}
		return nil
	})
}

// unitLines offers directives and sections in a heredoc that is a unit file.
func (c *completer) unitLines() {
	line := c.text.text(span{c.line(c.at).from, c.at})
	if c.typ == nil && c.in.kind != "drop_in" || c.attr.name != "content" || strings.ContainsAny(line, "=$") {
		return
	}
	owner := c.in
	if c.in.kind == "drop_in" {
		owner = c.in.parent
	}
	at := c.prefix()
	if owner.kind != "systemd_unit" || strings.TrimSpace(strings.TrimSuffix(line, c.text.text(at))) != "" {
		return
	}
	section := sectionBefore(c.written)
	for _, name := range unitfile.Directives(section) {
		doc := fmt.Sprintf("A directive of `[%s]`; see systemd.directives(7).", section)
		if since, ok := unitfile.Known(section, name); ok && since > 0 {
			doc += fmt.Sprintf(" Since systemd %d.", since)
		}
		c.add(0, at, name, name+"=", CompletionItem{Kind: itemProperty, Documentation: shown(doc)})
	}
}

// sectionBefore is the section that the end of a unit file stands in.
func sectionBefore(text string) string {
	all := regexp.MustCompile(`(?m)^\s*\[([A-Za-z0-9-]+)\]\s*$`).FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}
