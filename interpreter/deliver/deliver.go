// Package deliver makes what a host is given before its first boot: an
// Ignition configuration, a cloud-config or a script.
//
//	Request   what the operator asks for; New checks it, word by word
//	Payload   directories, files and the boot unit: the same in every format
//	Format    the payload as text, or a small text that fetches a large one and
//	          holds it to its digest
//
// Nothing here touches a host or the network. What is delivered, and where, is
// named by package delivery, which those who remove it read too.
package deliver

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
)

// The flags that a fault can name.
const (
	FlagURL        = "--interpreter-url"
	FlagSHA256     = "--interpreter-sha256"
	FlagPrefix     = "--prefix"
	FlagCredential = "--credential"
	FlagPlatform   = "--platform"
	FlagPointer    = "--pointer-url"
)

// Request is what a host is to be given.
type Request struct {
	// URL is where the host fetches the program, and SHA256 its digest: 64
	// hexadecimal digits, or a line of a checksum file that begins with them.
	URL, SHA256 string
	// Prefix is the directory that programs are installed in.
	Prefix string
	Recipe Recipe
	// Inputs is the text of an inputs file, in HCL; nil for none. It may hold
	// secrets.
	Inputs []byte
	// Credentials are the files that hold sensitive variables on the host, by
	// variable; "" for a credential that the host's systemd was given.
	Credentials map[string]string
}

// Payload is what is delivered.
type Payload struct {
	Dirs  []Dir
	Files []File
	// Program is the interpreter, and Path its place.
	Program Source
	Path    string
	// Unit is the boot unit, which is enabled.
	Unit Unit
	// Warnings are sentences about what may not be meant.
	Warnings []string
}

// Dir is a directory.
type Dir struct {
	Path string
	Mode fs.FileMode
}

// File is a file whose content comes along.
type File struct {
	Path    string
	Mode    fs.FileMode
	Content []byte
}

// Unit is a systemd unit.
type Unit struct{ Name, Contents string }

// Source is something that is fetched and held to its digest, in lower-case
// hexadecimal digits.
type Source struct{ URL, SHA256 string }

// The modes of what is delivered. What may hold a secret is for root alone.
const (
	modeProgram = 0o755
	modePlain   = 0o644
	modePrivate = 0o600
	modeDir     = 0o700
)

// Check says what keeps a request from being delivered in a format, whatever its
// recipe is. The error joins a [*FlagError] for each flag that has no usable
// value.
func (f Format) Check(req Request) error {
	return errors.Join(checkURL(FlagURL, req.URL, f.schemes), notArchive(req.URL), checkDigest(req.SHA256),
		checkPrefix(f.prefixOf(req)), checkCredentials(req.Credentials))
}

func (f Format) prefixOf(req Request) string {
	if req.Prefix == "" {
		return f.prefix
	}
	return req.Prefix
}

// New is the payload for a request. It checks what [Format.Check] does, and the
// recipe.
func New(f Format, req Request) (*Payload, error) {
	if err := errors.Join(f.Check(req), req.Recipe.check()); err != nil {
		return nil, err
	}
	prefix := f.prefixOf(req)
	p := &Payload{Program: Source{req.URL, digest(req.SHA256)}, Path: delivery.Program(prefix)}
	if f.prefix == "" && (prefix == "/usr" || strings.HasPrefix(prefix, "/usr/")) {
		p.Warnings = append(p.Warnings, FlagPrefix+" is below /usr, which most hosts that Ignition sets up cannot write to; /opt/hostler is a usual place")
	}
	boot := delivery.Boot{Prefix: prefix, Recipe: req.Recipe.Argument, Credentials: req.Credentials}
	if req.Inputs != nil {
		boot.Inputs = []string{delivery.InputsHCL}
		p.Files = append(p.Files, File{delivery.InputsHCL, modePrivate, req.Inputs})
	}
	for _, name := range slices.Sorted(maps.Keys(req.Recipe.Files)) {
		p.Files = append(p.Files, File{name, modePlain, req.Recipe.Files[name]})
	}
	p.Unit = Unit{delivery.BootUnit, boot.Text()}
	p.addDirs()
	return p, p.conflicts()
}

// addDirs lists the directories of ours that the files are in: what makes the
// files must not choose their modes.
func (p *Payload) addDirs() {
	seen := map[string]bool{}
	for _, f := range p.Files {
		for dir := path.Dir(f.Path); dir == delivery.Dir || len(dir) > len(delivery.Dir); dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		p.Dirs = append(p.Dirs, Dir{dir, modeDir})
	}
}

func checkPrefix(prefix string) error {
	if prefix == "" {
		return &FlagError{FlagPrefix, "it is missing: say where programs go on the host, such as /opt/hostler; it is never guessed"}
	}
	if err := block.CheckPrefix(prefix); err != nil {
		return &FlagError{FlagPrefix, err.Error()}
	}
	for _, dir := range []string{"/run", "/tmp", "/dev", "/proc", "/sys"} {
		if prefix == dir || strings.HasPrefix(prefix, dir+"/") {
			return &FlagError{FlagPrefix, fmt.Sprintf("what is below %s is gone at the next boot; /opt/hostler is a usual place", dir)}
		}
	}
	return nil
}
