package block

// Watched is a Step whose changed files take effect only when something is
// restarted, which it never does by itself: a started unit with content or
// drop-ins of its own. A recipe must watch it with a restart_on_change, or say
// restart = "never".
type Watched interface {
	// NeedsWatcher says whether some [Watcher] must watch the step.
	NeedsWatcher() bool
}
