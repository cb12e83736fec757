package shadow

import (
	"iter"
	"maps"
	"path"
	"strings"
)

// settings are the few directives of a unit that a shadow needs.
type settings struct {
	kind, busName        string
	exec, reload, remain bool
	// ends is set by what a service may have instead of a command.
	ends          bool
	install, also bool
	after         []string
}

// parseUnit reads the directives of a fragment and its drop-ins, in order.
func parseUnit(texts []string) settings {
	var s settings
	for _, text := range texts {
		section := ""
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				section = strings.Trim(line, "[]")
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			if ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
				s.set(section+"."+strings.TrimSpace(key), strings.TrimSpace(value))
			}
		}
	}
	return s
}

func (s *settings) set(key, value string) {
	switch key {
	case "Service.Type":
		s.kind = value
	case "Service.BusName":
		s.busName = value
	case "Service.ExecStart":
		s.exec = value != ""
	case "Service.ExecReload":
		s.reload = value != ""
	case "Service.ExecStop", "Unit.SuccessAction":
		s.ends = s.ends || value != ""
	case "Unit.After":
		s.order(value)
	case "Service.RemainAfterExit":
		s.remain = isTrue(value)
	case "Install.WantedBy", "Install.RequiredBy", "Install.UpheldBy", "Install.Alias":
		s.install = s.install || value != ""
	case "Install.Also":
		s.also = true
	}
}

// order adds to After; an empty value empties it.
func (s *settings) order(value string) {
	if value == "" {
		s.after = nil
	}
	s.after = append(s.after, strings.Fields(value)...)
}

// fault says why the manager would not load a service, "" if it would.
func (s settings) fault(unit string) string {
	kind, _ := s.service(unit)
	switch {
	case path.Ext(unit) != ".service" || s.exec:
		return ""
	case !s.ends:
		return "the service has no ExecStart=, ExecStop= or SuccessAction="
	case kind != "oneshot":
		return "the service has no ExecStart=, which only Type=oneshot allows"
	}
	return ""
}

// isTrue reads a boolean as systemd does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "1", "yes", "y", "true", "t", "on":
		return true
	}
	return false
}

// service is the type of a service, with systemd's defaults, and whether it
// remains after its exit.
func (s settings) service(unit string) (kind string, remain bool) {
	switch {
	case path.Ext(unit) != ".service":
		return "", false
	case s.kind != "":
		return s.kind, s.remain
	case s.busName != "":
		return "dbus", s.remain
	case s.exec:
		return "simple", s.remain
	}
	return "oneshot", s.remain
}

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
