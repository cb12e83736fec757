package block

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// The account files of a host. Names are resolved through these alone, never
// through those of the machine the program runs on.
const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// NoAccountError is a user or group that the host does not have.
type NoAccountError struct{ Kind, Name, File string }

func (e *NoAccountError) Error() string {
	return fmt.Sprintf("there is no %s %q in %s; create it first, or give its number", e.Kind, e.Name, e.File)
}

// LookupOwner resolves an owner and a group, names or numbers, with the host's
// own account files. "" is root. A name that is not there is a
// *NoAccountError.
func LookupOwner(v host.View, owner, group string) (uid, gid int, err error) {
	if uid, err = lookupAccount(v.Files, passwdFile, "user", owner); err != nil {
		return 0, 0, err
	}
	gid, err = lookupAccount(v.Files, groupFile, "group", group)
	return uid, gid, err
}

// OwnerNumbers resolves what needs no host: "", "root" and numbers. known is
// false for other names.
func OwnerNumbers(owner, group string) (uid, gid int, known bool) {
	uid, ok := accountNumber(owner)
	gid, also := accountNumber(group)
	return uid, gid, ok && also
}

func accountNumber(name string) (id int, ok bool) {
	if name == "" || name == "root" {
		return 0, true
	}
	n, err := strconv.ParseUint(name, 10, 31)
	return int(n), err == nil
}

func lookupAccount(f host.FileView, file, kind, name string) (int, error) {
	if id, ok := accountNumber(name); ok {
		return id, nil
	}
	in, err := f.Open(file)
	if host.Absent(err) {
		return 0, &NoAccountError{kind, name, file}
	}
	if err != nil {
		return 0, fmt.Errorf("looking up %s %q: %w", kind, name, err)
	}
	id, err := scanAccounts(bufio.NewScanner(in), name)
	if err = errors.Join(err, in.Close()); err != nil {
		return 0, fmt.Errorf("looking up %s %q in %s: %w", kind, name, file, err)
	}
	if id < 0 {
		return 0, &NoAccountError{kind, name, file}
	}
	return id, nil
}

// scanAccounts reads lines of passwd(5) or group(5), whose third field is the
// number, and returns -1 when the name is not among them.
func scanAccounts(lines *bufio.Scanner, name string) (int, error) {
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ":", 4)
		if len(fields) < 3 || fields[0] != name {
			continue
		}
		id, err := strconv.ParseUint(fields[2], 10, 31)
		if err != nil {
			return -1, fmt.Errorf("the line of %q holds %q where its number should be", name, fields[2])
		}
		return int(id), nil
	}
	return -1, lines.Err()
}
