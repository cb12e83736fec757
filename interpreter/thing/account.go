package thing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// Account is a user, a group or a membership of a host, as its account files
// have it. Those of other sources (a directory service) do not count.
type Account struct {
	// Kind is AccountUser, AccountGroup or AccountMember.
	Kind string
	// Name is the user's or the group's; of a membership "USER/GROUP".
	Name string
}

// The kinds of accounts.
const (
	AccountUser   = "user"
	AccountGroup  = "group"
	AccountMember = "member"
)

// The files that hold accounts. Those of passwords need not be there.
const (
	PasswdFile  = "/etc/passwd"
	shadowFile  = "/etc/shadow"
	GroupFile   = "/etc/group"
	gshadowFile = "/etc/gshadow"
)

// Key is the kind and the name.
func (a Account) Key() Key { return Key(a.Kind + ":" + a.Name) }

// Look finds the account; Value is a user's "uid:gid" and a group's number.
func (a Account) Look(_ context.Context, v host.View) (State, error) {
	file, name := PasswdFile, a.Name
	if a.Kind != AccountUser {
		file = GroupFile
	}
	user, group, _ := strings.Cut(a.Name, "/")
	if a.Kind == AccountMember {
		name = group
	}
	fields, err := accountLine(v.Files, file, name)
	if err != nil || fields == nil {
		return State{Kind: Absent}, err
	}
	switch {
	case a.Kind == AccountMember && (len(fields) < 4 || !slices.Contains(strings.Split(fields[3], ","), user)):
		return State{Kind: Absent}, nil
	case a.Kind == AccountMember:
		return State{Kind: Present}, nil
	case a.Kind == AccountUser && len(fields) > 3:
		return State{Kind: Present, Value: fields[2] + ":" + fields[3]}, nil
	case a.Kind == AccountGroup && len(fields) > 2:
		return State{Kind: Present, Value: fields[2]}, nil
	}
	return State{}, fmt.Errorf("%s: the line of %q is cut short", file, name)
}

// accountLine is the fields of an account's line, nil if there is none.
func accountLine(f host.FileView, file, name string) ([]string, error) {
	raw, err := ReadAll(f, file)
	if host.Absent(err) {
		return nil, nil
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if fields := strings.Split(line, ":"); fields[0] == name && len(fields) > 1 {
			return fields, nil
		}
	}
	return nil, err
}

// PutBack removes an account that was not there before us. What belongs to it
// on disks is left.
func (a Account) PutBack(_ context.Context, h host.Host, o Origin, _ Keeper) error {
	if o.Kind != OriginAbsent {
		return nil
	}
	// The file that Look reads comes last: as long as the account is in it, it
	// is looked for in the other too.
	files := []string{gshadowFile, GroupFile}
	if a.Kind == AccountUser {
		files = []string{shadowFile, PasswdFile}
	}
	for _, file := range files {
		if err := a.strip(h.Files, file); err != nil {
			return fmt.Errorf("%s: %s: %w", a.Key(), file, err)
		}
	}
	return nil
}

// strip takes the account out of one file.
func (a Account) strip(f host.Files, file string) error {
	raw, err := ReadAll(f, file)
	if host.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept []string
	for _, line := range strings.Split(string(raw), "\n") {
		if line, stays := a.stripped(line); stays {
			kept = append(kept, line)
		}
	}
	if after := strings.Join(kept, "\n"); after != string(raw) {
		return rewrite(f, file, []byte(after))
	}
	return nil
}

// stripped is a line without the account; stays is false when it goes whole.
func (a Account) stripped(line string) (after string, stays bool) {
	fields := strings.Split(line, ":")
	if a.Kind != AccountMember {
		return line, fields[0] != a.Name || len(fields) < 2
	}
	user, group, _ := strings.Cut(a.Name, "/")
	if fields[0] != group || len(fields) < 4 {
		return line, true
	}
	members := slices.DeleteFunc(strings.Split(fields[3], ","), func(m string) bool { return m == user })
	fields[3] = strings.Join(members, ",")
	return strings.Join(fields, ":"), true
}
