package systemdunit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/unitfile"
)

// rules are those that need no host.
func (s *step) rules(args block.Args) hcl.Diagnostics {
	var diags hcl.Diagnostics
	fault := func(attr, summary, detail string, a ...any) {
		diags = append(diags, args.Fault(attr, summary, fmt.Sprintf(detail, a...)))
	}
	a := s.args
	if s.masks() && s.own {
		fault("mask", "Mask of a unit with content", "A mask stands in the place of the unit file; leave out either content or mask.")
	}
	if s.masks() && s.enables() {
		fault("enable", "Enabled and masked", "A masked unit cannot be enabled; leave out either mask or enable.")
	}
	if s.masks() && s.starts() {
		fault("state", "Started and masked", "A masked unit cannot be started; leave out mask, or write state = \"stopped\".")
	}
	if s.unit.Template && a.State != nil {
		fault("state", "State of a template", "%s is a template, which cannot be started or stopped; name an instance such as %s.", s.name, s.unit.Of("instance"))
	}
	if len(a.StartUnless) > 0 && !s.starts() {
		fault("start_unless[0].machines", "Nothing to start", "start_unless goes with state = \"started\".")
	}
	if a.Restart != nil && !s.starts() {
		fault("restart", "Nothing to restart", "restart = \"never\" goes with state = \"started\".")
	}
	if len(s.files) == 0 && a.Enable == nil && a.Mask == nil && a.State == nil {
		fault("", "Nothing to manage", "Write at least one of content, source, drop_in, enable, mask and state for %s.", s.name)
	}
	return diags
}

// installRules says whether a unit whose file is in the recipe can be enabled.
func (s *step) installRules(args block.Args) hcl.Diagnostics {
	if !s.own || !s.enables() || !s.complete() {
		return nil
	}
	_, err := s.after(nil).Wanted(s.name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unitfile.ErrNoInstall):
		return hcl.Diagnostics{args.Fault("enable", "No [Install] section", sentence(err.Error()))}
	case errors.Is(err, unitfile.ErrNeedsInstance):
		return hcl.Diagnostics{args.Fault("enable", "Instance name needed", sentence(err.Error()))}
	}
	return hcl.Diagnostics{args.Fault("enable", "Cannot be enabled", sentence(err.Error()))}
}

// dropInName holds the label of a drop-in to the rule.
func dropInName(name string) error {
	switch {
	case !strings.HasSuffix(name, ".conf"):
		return fmt.Errorf("%q does not end in .conf, and systemd reads no other drop-ins; write for example %q.", name, name+".conf")
	case name == ".conf" || name[0] == '.':
		return fmt.Errorf("%q starts with a dot, and systemd reads no such drop-ins; write for example \"10-recipe.conf\".", name)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%q is no file name; write one such as \"10-recipe.conf\".", name)
	case len(name) > 255:
		return fmt.Errorf("The drop-in's name is %d bytes long; 255 is the most.", len(name))
	}
	return nil
}

// sentence makes an error's text one.
func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }
