package walk

import (
	"time"

	"hostler/interpreter/host"
)

// glanceTime is how long what was seen of unit files may be told again.
const glanceTime = time.Second

// glance is what checks have seen of one manager's unit files.
type glance struct {
	*host.Glance
	began time.Duration
}

// glance is the view of files for a check. Most steps ask about the same few
// directories of unit files: as long as none of them needed anything, each is
// read once. It is out of the way before the first change.
func (w *walker) glance(machine string, files host.FileView) host.FileView {
	if w.stirred || w.resuming {
		return files
	}
	now := w.Host.Clock.Monotonic()
	g, ok := w.glances[machine]
	if !ok || now-g.began > glanceTime {
		if w.glances == nil {
			w.glances = map[string]glance{}
		}
		g = glance{host.NewGlance(files, "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd", "/lib"), now}
		w.glances[machine] = g
	}
	return g.Glance
}
