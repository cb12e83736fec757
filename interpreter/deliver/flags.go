package deliver

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"hostler/interpreter/delivery"
)

// FlagError is a flag without a usable value. Problem says what is wrong and
// what to do, without the value where that may hold a secret.
type FlagError struct{ Flag, Problem string }

func (e *FlagError) Error() string { return e.Flag + ": " + e.Problem }

// archives are endings of what is no bare program.
var archives = []string{".tar", ".tgz", ".gz", ".zip", ".xz", ".zst", ".bz2", ".txz", ".tbz2", ".7z", ".rpm", ".deb", ".raw", ".iso"}

// checkURL holds a URL to what can fetch it. It is not shown: its query may be
// a signature.
func checkURL(flag, text string, schemes []string) error {
	fault := func(format string, args ...any) error { return &FlagError{flag, fmt.Sprintf(format, args...)} }
	if text == "" {
		return fault("it is missing: say where the host fetches it")
	}
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\^`+"`{|}'", r) }
	if strings.ContainsFunc(text, odd) {
		return fault("it holds a character that no URL has; write it percent-encoded")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fault("it is no URL")
	case u.Scheme == "":
		return fault("it is no URL; write one that begins with %s", list(schemes, "://"))
	case !slices.Contains(schemes, u.Scheme):
		return fault("a host cannot fetch %s URLs before it runs; use %s", u.Scheme, list(schemes, "://"))
	case u.User != nil:
		return fault("it holds a user name or password, which all that may read user data see; use a signed URL, or none that needs one")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return fault("leave out what follows #; it is never sent")
	case u.Scheme == "arn":
		return checkARN(flag, u.Opaque)
	case u.Host == "" || u.Opaque != "":
		return fault("it names no host")
	case u.Path == "" || strings.HasSuffix(u.Path, "/"):
		return fault("it names no file")
	}
	return nil
}

// checkARN checks the part of an Amazon resource name after "arn:".
func checkARN(flag, name string) error {
	parts := strings.SplitN(name, ":", 5)
	if len(parts) < 5 || parts[1] != "s3" || !strings.Contains(parts[4], "/") {
		return &FlagError{flag, "it is no object of S3; write arn:PARTITION:s3:REGION:ACCOUNT:BUCKET/KEY"}
	}
	return nil
}

// notArchive refuses what would have to be unpacked first.
func notArchive(text string) error {
	name := text
	if u, err := url.Parse(text); err == nil && u.Opaque == "" {
		name = u.Path
	}
	if ending := strings.ToLower(path.Ext(name)); slices.Contains(archives, ending) {
		return &FlagError{FlagURL, fmt.Sprintf("it names an archive (%s); it must name the bare program, which nothing unpacks before it runs", ending)}
	}
	return nil
}

var hex64 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// digest is the SHA-256 digest in a text: the first word of a line of a
// checksum file, in lower case.
func digest(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	word, _, _ = strings.Cut(word, "\t")
	return strings.ToLower(strings.TrimPrefix(word, `\`))
}

func checkDigest(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &FlagError{FlagSHA256, "it is missing: give the program's SHA-256 digest, or the line of a checksum file that has it"}
	case strings.Contains(strings.TrimSpace(text), "\n"):
		return &FlagError{FlagSHA256, "it has several lines; give the one of the program"}
	case !hex64.MatchString(digest(text)):
		return &FlagError{FlagSHA256, fmt.Sprintf("%q is no SHA-256 digest; it has 64 digits from 0-9 and a-f", digest(text))}
	}
	return nil
}

// checkCredentials holds names and paths to what stands for itself in a unit
// file.
func checkCredentials(credentials map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		file := credentials[name]
		if file != "" && (!delivery.Plain(file) || !path.IsAbs(file) || path.Clean(file) != file || strings.Contains(file, ":")) {
			faults = append(faults, &FlagError{FlagCredential, fmt.Sprintf("%s=%s: write a clean absolute path of the host, of letters, digits and . _ - / @ only", name, file)})
		}
	}
	return errors.Join(faults...)
}

// list is "a, b or c", each with an ending.
func list(words []string, ending string) string {
	var all []string
	for _, w := range words {
		if w == "arn" {
			all = append(all, "arn:")
			continue
		}
		all = append(all, w+ending)
	}
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
