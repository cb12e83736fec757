// Package scene makes hosts in memory of their descriptions: host blocks of
// recipe tests, and facts recorded from a real host.
package scene

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"hostler/interpreter/host/memory"
)

// Host is a described host. It is made with [Read] and not changed after that.
type Host struct {
	base *Host
	desc description
	opts memory.Options
	// text is the description as JSON, which tells hosts apart.
	text []byte
	// Faults are there from the start and stay.
	Faults []Fault
}

// description is the body of a host block.
type description struct {
	OSRelease  *string           `hcl:"os_release,optional"`
	Facts      *string           `hcl:"facts,optional"`
	Hostname   *string           `hcl:"hostname,optional"`
	Kernel     *string           `hcl:"kernel,optional"`
	Systemd    *int              `hcl:"systemd,optional"`
	Arch       *string           `hcl:"arch,optional"`
	Cgroup     *int              `hcl:"cgroup,optional"`
	Running    *bool             `hcl:"running,optional"`
	Container  *bool             `hcl:"systemd_container,optional"`
	DiskBytes  *int64            `hcl:"disk_bytes,optional"`
	Executable []string          `hcl:"executables,optional"`
	ReadOnly   []string          `hcl:"read_only,optional"`
	Sysctl     map[string]string `hcl:"sysctl,optional"`
	Modules    map[string]bool   `hcl:"kernel_modules,optional"`
	Swaps      []string          `hcl:"swaps,optional"`

	Files       []fileBlock      `hcl:"file,block"`
	Directories []directoryBlock `hcl:"directory,block"`
	Links       []linkBlock      `hcl:"symlink,block"`
	Units       []unitBlock      `hcl:"unit,block"`
	Machines    []machineBlock   `hcl:"machine,block"`
	Processes   []processBlock   `hcl:"process,block"`
	Programs    []programBlock   `hcl:"program,block"`
	Listeners   []listenerBlock  `hcl:"listener,block"`
	Mounts      []mountBlock     `hcl:"mount,block"`
	URLs        []urlBlock       `hcl:"url,block"`
	Images      []imageBlock     `hcl:"image,block"`
	Faults      []Fault          `hcl:"fault,block"`
}

// Read makes a host of the body of a host block, beginning with base if that
// is not nil. Files that the block names are read from assets.
func Read(body hcl.Body, ctx *hcl.EvalContext, assets fs.FS, base *Host) (*Host, hcl.Diagnostics) {
	h := &Host{base: base}
	if base != nil {
		h.opts, h.Faults = clone(base.opts), append([]Fault{}, base.Faults...)
	}
	diags := gohcl.DecodeBody(body, ctx, &h.desc)
	if diags.HasErrors() {
		return nil, diags
	}
	text, err := json.Marshal(h.desc)
	if err != nil {
		text = nil // every description has a JSON
	}
	h.text = text
	b := builder{opts: &h.opts, assets: assets, fresh: base == nil}
	err = b.build(&h.desc)
	for i := range h.desc.Faults {
		if err == nil {
			err = h.desc.Faults[i].check(false)
		}
	}
	h.Faults = append(h.Faults, h.desc.Faults...)
	if err == nil {
		_, err = h.New()
	}
	if err != nil {
		at := body.MissingItemRange()
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Host not possible", Detail: fmt.Sprintf("%s.", err), Subject: &at}}
	}
	return h, nil
}

// Key tells descriptions apart.
func (h *Host) Key() string {
	key := ""
	if h.base != nil {
		key = h.base.Key()
	}
	return key + fmt.Sprintf("%x;", sha256.Sum256(h.text))
}

// Options are those of the host in memory, made anew with every call.
func (h *Host) Options() memory.Options { return clone(h.opts) }

// New makes the host in memory, with its faults.
func (h *Host) New() (m *memory.Memory, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("the description contradicts itself: %v", r)
		}
	}()
	m = memory.New(h.Options())
	for _, f := range h.Faults {
		f.Begin(m)
	}
	return m, nil
}

// within is the name of a file in a directory below the recipe's tests.
func within(name string) (string, error) {
	clean := path.Clean(name)
	if !fs.ValidPath(clean) || clean == "." {
		return "", fmt.Errorf("%q is no name of a file beside the tests: write a path relative to the directory tests", name)
	}
	return clean, nil
}
