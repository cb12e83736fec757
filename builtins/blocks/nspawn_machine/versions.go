package nspawnmachine

// From which version of systemd on something is known to systemd-nspawn. The
// host's facts say which one it has; nothing is added where that is not known.
const (
	// systemd-nspawn --cleanup removes what a machine that was killed leaves
	// mounted, and what would keep it from being started again.
	hasCleanup = 257
	// RestrictAddressFamilies= can be set. Without it a later version will
	// allow few families only, and none that container networks need.
	hasFamilies = 261
)

// unrestricted is the directive that keeps all address families allowed, unless
// the recipe says which ones are.
func (m *machine) unrestricted(s *settingsArgs) []string {
	if _, said := s.Exec["RestrictAddressFamilies"]; said || m.systemd < hasFamilies {
		return nil
	}
	return []string{"RestrictAddressFamilies="}
}

// cleanup is the directive that tidies up before every start, also before one
// that systemd makes by itself.
func (m *machine) cleanup(slot string) []string {
	if m.systemd < hasCleanup {
		return nil
	}
	return []string{"ExecStartPre=-/usr/bin/systemd-nspawn --cleanup --machine=" + slot}
}
