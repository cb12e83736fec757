package deliver

import (
	"bytes"
	"encoding/json"
	"io/fs"
)

// SpecVersion is the version of the Ignition specification that is written,
// and MinimumIgnition the first release that reads it.
const (
	SpecVersion     = "3.4.0"
	MinimumIgnition = "2.15.0"
)

// The parts of specification 3.4.0 that are used. Sections without content are
// left out.
type (
	ignConfig struct {
		Ignition ignIgnition `json:"ignition"`
		Storage  *ignStorage `json:"storage,omitempty"`
		Systemd  *ignSystemd `json:"systemd,omitempty"`
	}
	ignIgnition struct {
		Version string       `json:"version"`
		Config  *ignReplaced `json:"config,omitempty"`
	}
	ignReplaced struct {
		Replace ignResource `json:"replace"`
	}
	ignStorage struct {
		Directories []ignDirectory `json:"directories,omitempty"`
		Files       []ignFile      `json:"files,omitempty"`
	}
	ignDirectory struct {
		Path string `json:"path"`
		Mode int    `json:"mode"`
	}
	ignFile struct {
		Path      string      `json:"path"`
		Overwrite bool        `json:"overwrite"`
		Mode      int         `json:"mode"`
		Contents  ignResource `json:"contents"`
	}
	ignResource struct {
		Source       string           `json:"source"`
		Compression  string           `json:"compression,omitempty"`
		Verification *ignVerification `json:"verification,omitempty"`
	}
	ignVerification struct {
		Hash string `json:"hash"`
	}
	ignSystemd struct {
		Units []ignUnit `json:"units,omitempty"`
	}
	ignUnit struct {
		Name     string `json:"name"`
		Enabled  bool   `json:"enabled"`
		Contents string `json:"contents"`
	}
)

// ignition is the payload as an Ignition configuration. Ignition enables units
// by a preset, which systemd reads at the first boot of a system only.
func ignition(p *Payload) []byte {
	storage := &ignStorage{}
	for _, d := range p.Dirs {
		storage.Directories = append(storage.Directories, ignDirectory{d.Path, number(d.Mode)})
	}
	for _, f := range p.Files {
		storage.Files = append(storage.Files, ignFile{f.Path, true, number(f.Mode), inline(f.Content)})
	}
	storage.Files = append(storage.Files, ignFile{p.Path, true, modeProgram, fetched(p.Program)})
	return ignText(ignConfig{
		Ignition: ignIgnition{Version: SpecVersion},
		Storage:  storage,
		Systemd:  &ignSystemd{[]ignUnit{{p.Unit.Name, true, p.Unit.Contents}}},
	})
}

// ignitionPointer is a configuration that fetches the real one.
func ignitionPointer(at Source) []byte {
	return ignText(ignConfig{Ignition: ignIgnition{Version: SpecVersion, Config: &ignReplaced{fetched(at)}}})
}

// number is a mode as JSON has it: 0644 is 420.
func number(mode fs.FileMode) int { return int(mode.Perm()) }

func inline(content []byte) ignResource {
	e := encode(content)
	r := ignResource{Source: "data:;base64," + e.text}
	if e.gzipped {
		r.Compression = "gzip"
	}
	return r
}

func fetched(s Source) ignResource {
	return ignResource{Source: s.URL, Verification: &ignVerification{"sha256-" + s.SHA256}}
}

func ignText(c ignConfig) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		panic(err) // strings, numbers and bools only
	}
	return b.Bytes()
}
