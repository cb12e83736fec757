package nspawnmachine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// arguments are those of the schema.
type arguments struct {
	Name              *string        `cty:"name"`
	Slots             []string       `cty:"slots"`
	ResponsiveTimeout string         `cty:"responsive_timeout"`
	RebuildOn         []string       `cty:"rebuild_on"`
	Rootfs            []rootfsArgs   `cty:"rootfs"`
	Settings          []settingsArgs `cty:"settings"`
	Service           []serviceArgs  `cty:"service"`
	Ready             []readyArgs    `cty:"ready"`
}

type rootfsArgs struct {
	Image    string  `cty:"image"`
	SHA256   *string `cty:"sha256"`
	CA       *string `cty:"ca_certificate"`
	Platform *string `cty:"platform"`
	Reason   *string `cty:"failure_reason"`
}

type settingsArgs struct {
	Exec         map[string][]string `cty:"exec"`
	Network      map[string][]string `cty:"network"`
	Files        map[string][]string `cty:"files"`
	BindIfExists []string            `cty:"bind_if_exists"`
	ReadIfExists []string            `cty:"bind_read_only_if_exists"`
	Slot         string              `cty:"slot"`
}

type serviceArgs struct {
	Unit    map[string][]string `cty:"unit"`
	Service map[string][]string `cty:"service"`
	Slot    string              `cty:"slot"`
}

type readyArgs struct {
	Unit      *string    `cty:"unit"`
	Command   []string   `cty:"command"`
	File      *string    `cty:"file"`
	Timeout   string     `cty:"timeout"`
	Interval  string     `cty:"interval"`
	OnTimeout [][]string `cty:"on_timeout"`
	Reason    *string    `cty:"failure_reason"`
}

// machine is what all parts know.
type machine struct {
	args   arguments
	label  string
	slots  []string
	active string // the slot being built or active

	systemd    int // the host's version, 0 when it is not known
	image      string
	sha256     string
	ca         string
	platform   rootfs.Platform // zero when the host's architecture is not known
	reason     string          // what a failure of the tree is reported as
	responsive time.Duration
	conditions []condition
}

func newMachine(args block.Args) (*machine, hcl.Diagnostics) {
	m := &machine{label: args.Label, systemd: args.Facts.Systemd}
	if err := args.Into(&m.args); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	diags := m.takeNames(args)
	diags = append(diags, m.takeImage(args)...)
	diags = append(diags, m.takeReady(args)...)
	diags = append(diags, m.checkOwnership(args)...)
	var err error
	if m.responsive, err = block.ParseDuration(m.args.ResponsiveTimeout); err != nil {
		diags = append(diags, args.Fault("responsive_timeout", "Invalid duration", err.Error()))
	}
	return m, diags
}

func (m *machine) takeNames(args block.Args) hcl.Diagnostics {
	switch {
	case len(m.args.Slots) > 0 && m.args.Name != nil:
		return hcl.Diagnostics{args.Fault("slots", "Name and slots", "Write either name or slots: the slots are the names.")}
	case len(m.args.Slots) > 0:
		m.slots = m.args.Slots
	case m.args.Name != nil:
		m.slots = []string{*m.args.Name}
	default:
		m.slots = []string{args.Label}
	}
	for _, name := range m.slots {
		if err := checkName(name); err != nil {
			return hcl.Diagnostics{args.Fault("", "Invalid machine name", err.Error()+" Give the machine a name that does not come from its label.")}
		}
	}
	m.active = m.slots[0]
	if slices.Contains(m.slots, args.Self) {
		m.active = args.Self
	}
	return nil
}

func (m *machine) takeImage(args block.Args) (diags hcl.Diagnostics) {
	r := m.args.Rootfs[0]
	m.image = r.Image
	if r.SHA256 != nil {
		m.sha256 = *r.SHA256
	}
	if r.CA != nil {
		m.ca = *r.CA
	}
	if r.Reason != nil {
		m.reason = *r.Reason
	}
	if err := rootfs.CheckReference(m.image, m.sha256); err != nil {
		diags = append(diags, args.Fault("rootfs[0].image", "Invalid image", sentence(err)))
	}
	var err error
	switch {
	case r.Platform != nil:
		m.platform, err = rootfs.ParsePlatform(*r.Platform)
	case args.Facts.Arch != "":
		m.platform = rootfs.Platform{OS: "linux", Architecture: args.Facts.Arch}
	}
	if err != nil {
		diags = append(diags, args.Fault("rootfs[0].platform", "Invalid platform", sentence(err)))
	}
	return diags
}

// checkOwnership refuses settings that do not go together: a tree that cannot
// be written cannot be given to other users.
func (m *machine) checkOwnership(args block.Args) (diags hcl.Diagnostics) {
	for i, s := range m.args.Settings {
		users, how := last(s.Exec, "PrivateUsers"), last(s.Exec, "PrivateUsersOwnership")
		if how == "" {
			how = last(s.Files, "PrivateUsersOwnership")
		}
		if isYes(last(s.Files, "ReadOnly")) && users != "" && !isNo(users) && how != "map" && how != "off" {
			diags = append(diags, args.Fault(fmt.Sprintf("settings[%d].files", i), "Read-only tree cannot change owners",
				"With ReadOnly the tree cannot be given to the users of PrivateUsers. Write PrivateUsersOwnership = \"map\" in files, or PrivateUsers = \"no\" in exec."))
		}
	}
	return diags
}

// last is the value in force of a directive.
func last(values map[string][]string, key string) string {
	list := values[key]
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func isYes(s string) bool { return slices.Contains([]string{"yes", "true", "1", "on"}, s) }
func isNo(s string) bool  { return slices.Contains([]string{"no", "false", "0", "off"}, s) }

// settings are those of a slot, nil if the recipe has none.
func (m *machine) settings(slot string) *settingsArgs {
	for i := range m.args.Settings {
		if s := &m.args.Settings[i]; s.Slot == slot || s.Slot == "" {
			return s
		}
	}
	return nil
}

func (m *machine) service(slot string) serviceArgs {
	for _, s := range m.args.Service {
		if s.Slot == slot || s.Slot == "" {
			return s
		}
	}
	return serviceArgs{}
}

// privateUsers says whether the tree may belong to other users than root.
func (m *machine) privateUsers() bool {
	s := m.settings(m.active)
	return s == nil || !isNo(last(s.Exec, "PrivateUsers"))
}

// settingsPath is where the settings of a slot are.
func settingsPath(slot string) string { return "/etc/systemd/nspawn/" + slot + ".nspawn" }

// dropInPath is where the drop-in of a slot's unit is.
func dropInPath(slot string) string {
	return unitfile.EtcDir + "/" + thing.MachineUnit(slot) + ".d/10-hostler.conf"
}

// named puts the machine's name before an error that does not begin with it.
func (m *machine) named(err error) error {
	name := "machine " + m.active + ":"
	if strings.HasPrefix(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s %w", name, err)
}

func (m *machine) root() string { return host.MachineRoot(m.active) }

// sentence makes a clause a sentence.
func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
