package thing

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// LineEdit is one edit of the lines of a file.
type LineEdit struct {
	Kind LineEditKind
	// Match is matched against whole lines, without their ends. Ensure may
	// leave it out.
	Match *regexp.Regexp
	// Text is the mark that Comment puts before a line, the template that
	// Replace makes of a match ("$1" is a group), or the line of Ensure.
	Text string
}

// LineEditKind says what an edit does.
type LineEditKind int

// The kinds of edits.
const (
	// Comment puts Text before every line that matches. One that starts with
	// it already, blanks aside, is a comment and left alone.
	Comment LineEditKind = iota
	// Replace makes Text of every line that matches.
	Replace
	// Ensure sees to it that the line Text is there: in the place of the last
	// line that matches, or at the end.
	Ensure
)

// Lines is the lines that edits concern in a file of others. It is named by
// the path; links at the path are followed.
type Lines struct {
	Path  Path
	Edits []LineEdit
}

// change is what an edit did to one line: old "" with fresh is a new line.
type change struct {
	old, new string
	fresh    bool
	// alike is how many lines before it are the same as new.
	alike int
}

func (l Lines) through() Through { return Through{Path: l.Path, Follow: true} }

// Key is that of the path.
func (l Lines) Key() Key { return l.Path.Key() }

// File is the name of the file itself.
func (l Lines) File(f host.FileView) (string, error) { return l.through().File(f) }

// Edit returns b as the edits leave it. It is an error when doing them again
// would change it again.
func (l Lines) Edit(b []byte) ([]byte, error) {
	after, _ := l.edit(b)
	if again, _ := l.edit(after); !bytes.Equal(after, again) {
		return nil, fmt.Errorf("the edits do not come to rest: what they write matches again and would be changed with every run")
	}
	return after, nil
}

func (l Lines) edit(b []byte) ([]byte, []change) {
	t := parseLines(b)
	var all []change
	for _, e := range l.Edits {
		all = append(all, t.apply(e)...)
	}
	return t.bytes(), all
}

// text is lines without ends; every line that had "\r\n" keeps it.
type text struct {
	lines []string
	open  bool // the last line has no end
}

func parseLines(b []byte) *text {
	if len(b) == 0 {
		return &text{}
	}
	s := string(b)
	open := !strings.HasSuffix(s, "\n")
	return &text{lines: strings.Split(strings.TrimSuffix(s, "\n"), "\n"), open: open}
}

func (t *text) bytes() []byte {
	s := strings.Join(t.lines, "\n")
	if len(t.lines) > 0 && !t.open {
		s += "\n"
	}
	return []byte(s)
}

// bare is a line without a carriage return, and what it ended in.
func bare(line string) (content, end string) {
	if content, ok := strings.CutSuffix(line, "\r"); ok {
		return content, "\r"
	}
	return line, ""
}

func (t *text) apply(e LineEdit) (made []change) {
	if e.Kind == Ensure {
		return t.ensure(e)
	}
	var at []int
	for i, line := range t.lines {
		content, end := bare(line)
		if !e.Match.MatchString(content) || e.Kind == Comment && commented(content, e.Text) {
			continue
		}
		next := e.Text + content
		if e.Kind == Replace {
			next = e.Match.ReplaceAllString(content, e.Text)
		}
		if next += end; next != line {
			made, at = append(made, change{old: line, new: next}), append(at, i)
			t.lines[i] = next
		}
	}
	for n, i := range at {
		made[n].alike = t.alike(i)
	}
	return made
}

// alike counts the lines before one that are the same.
func (t *text) alike(at int) (n int) {
	for _, line := range t.lines[:at] {
		if line == t.lines[at] {
			n++
		}
	}
	return n
}

func commented(content, mark string) bool {
	return strings.HasPrefix(strings.TrimLeft(content, " \t"), strings.TrimSpace(mark))
}

func (t *text) ensure(e LineEdit) []change {
	at := -1
	for i, line := range t.lines {
		content, _ := bare(line)
		if content == e.Text {
			return nil
		}
		if e.Match != nil && e.Match.MatchString(content) {
			at = i
		}
	}
	if at >= 0 {
		old := t.lines[at]
		_, end := bare(old)
		t.lines[at] = e.Text + end
		return []change{{old: old, new: e.Text + end, alike: t.alike(at)}}
	}
	t.lines, t.open = append(t.lines, e.Text), false
	return []change{{new: e.Text, fresh: true, alike: t.alike(len(t.lines) - 1)}}
}

// Look describes what the edits would change: the lines that wait for them, in
// Value. It is "" for a file that has been edited.
func (l Lines) Look(ctx context.Context, v host.View) (State, error) {
	found, err := l.through().Look(ctx, v)
	if err != nil || found.Kind != File {
		return found, err
	}
	name, err := l.File(v.Files)
	if err != nil {
		return State{}, err
	}
	b, err := ReadAll(v.Files, name)
	if err != nil {
		return State{}, err
	}
	return l.state(b), nil
}

func (l Lines) state(b []byte) State {
	_, changes := l.edit(b)
	var waiting []string
	for _, c := range changes {
		if c.fresh {
			waiting = append(waiting, "+"+c.new)
			continue
		}
		waiting = append(waiting, " "+c.old)
	}
	slices.Sort(waiting)
	value := strings.Join(waiting, "\n")
	return State{Kind: File, Digest: Digest([]byte(value)), Value: value}
}

// Edited is the state of a file in which nothing is left to edit.
func (l Lines) Edited() State { return State{Kind: File, Digest: Digest(nil)} }

// Keeps is true for any file: the edits are undone with its help.
func (l Lines) Keeps(found State) bool { return found.Kind != Absent }

// Save keeps the whole file.
func (l Lines) Save(ctx context.Context, h host.Host, k Keeper, key Key, _ State) (string, error) {
	found, err := l.through().Look(ctx, h.View())
	if err != nil {
		return "", err
	}
	if found.Kind != File {
		return "", fmt.Errorf("%s is a %s and no file with lines", l.Path, found.Kind)
	}
	return l.through().Save(ctx, h, k, key, found)
}

// PutBack takes the edits out again. A file in which nothing else changed gets
// its original back whole; in another only our lines go back.
func (l Lines) PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error {
	if o.Kind == OriginAdopted || o.Kind == "" {
		return nil
	}
	name, err := l.File(h.Files)
	if err != nil {
		return err
	}
	now, err := ReadAll(h.Files, name)
	if host.Absent(err) {
		return l.through().PutBack(ctx, h, o, k)
	}
	var original []byte
	if err == nil && o.Kind == OriginSaved {
		original, err = Kept(ctx, h, k, o.Backup, name)
	}
	if err != nil {
		return err
	}
	edited, made := l.edit(original)
	if bytes.Equal(now, edited) || bytes.Equal(now, original) {
		return l.through().PutBack(ctx, h, o, k)
	}
	after := undo(now, made)
	if o.Kind == OriginAbsent && len(after) == 0 {
		return l.through().PutBack(ctx, h, o, k)
	}
	if bytes.Equal(after, now) {
		return nil
	}
	return rewrite(h.Files, name, after)
}

// undo puts the lines that were changed back where they are found as they were
// left, and at the end where they are gone. Of several that are alike it is the
// one with as many of them before it.
func undo(now []byte, made []change) []byte {
	t := parseLines(now)
	for _, c := range slices.Backward(made) {
		at := t.find(c)
		switch {
		case at < 0 && !c.fresh && !slices.Contains(t.lines, c.old):
			t.lines, t.open = append(t.lines, c.old), false
		case at < 0:
		case c.fresh:
			t.lines = slices.Delete(t.lines, at, at+1)
		default:
			t.lines[at] = c.old
		}
	}
	return t.bytes()
}

// find is the line that a change left, -1 if there is none.
func (t *text) find(c change) int {
	at, before := -1, 0
	for i, line := range t.lines {
		if line != c.new {
			continue
		}
		if at = i; before == c.alike {
			break
		}
		before++
	}
	return at
}

// rewrite replaces a file's bytes and keeps its mode and owner.
func rewrite(f host.Files, name string, b []byte) error {
	info, err := host.Lstat(f, name)
	if err != nil {
		return err
	}
	st := host.StatOf(info)
	return host.Replace(f, name, host.Content{Bytes: b, Mode: host.ModeBits(info.Mode()), UID: st.UID, GID: st.GID})
}
