package report

import (
	"time"
)

// Status is the document of status.
type Status struct {
	FormatVersion  string       `json:"format_version"`
	Phase          string       `json:"phase" doc:"absent, installing, complete, resetting or unreadable" enum:"absent,installing,complete,resetting,unreadable"`
	InstallationID string       `json:"installation_id" doc:"empty until the first live run"`
	Recipe         string       `json:"recipe"`
	RecipeVersion  string       `json:"recipe_version"`
	Fingerprint    string       `json:"fingerprint"`
	Prefix         string       `json:"prefix,omitempty" doc:"when it is not the default"`
	Unreadable     string       `json:"unreadable,omitempty" doc:"why the record cannot be used"`
	Drift          []Drift      `json:"drift" doc:"what was changed behind our back"`
	Pending        []Pending    `json:"pending" doc:"what waits for a machine restart, a repave or a confirmation"`
	ConfirmUntil   *time.Time   `json:"confirm_until,omitempty" doc:"when a repave goes back unless it is confirmed before"`
	Debts          []Debt       `json:"debts" doc:"restarts that are owed"`
	LastRun        *LastRun     `json:"last_run" doc:"since boot; null when there was none"`
	Daemon         *Daemon      `json:"daemon,omitempty" doc:"what the daemon said since boot; left out when there was none"`
	Provisional    bool         `json:"provisional,omitempty" doc:"true when another run was in progress"`
	Diagnostics    []Diagnostic `json:"diagnostics"`
}

// Debt is a restart that is owed.
type Debt struct {
	Step    string `json:"step" doc:"the step that owes it"`
	Unit    string `json:"unit"`
	Machine string `json:"machine,omitempty"`
	Cause   string `json:"cause" doc:"the step that changed"`
	Reason  string `json:"reason"`
}

// Daemon is what the daemon says of itself.
type Daemon struct {
	State    string      `json:"state" doc:"waiting (for the lock), watching, verifying, stood down or stopped"`
	Since    time.Time   `json:"since"`
	Version  string      `json:"version"`
	LastLook *DaemonLook `json:"last_look,omitempty"`
	Held     []string    `json:"held,omitempty" doc:"steps that are left as they are, because they were repaired too often within an hour"`
}

// DaemonLook is how the daemon's last look at the host ended.
type DaemonLook struct {
	Time    time.Time `json:"time"`
	Cause   string    `json:"cause" doc:"on schedule, or what changed"`
	Result  string    `json:"result" doc:"ok or failed"`
	Changed int       `json:"changed" doc:"how many steps were repaired"`
	Error   string    `json:"error,omitempty"`
}

// LastRun is how the last command that changed the host ended.
type LastRun struct {
	Command         string    `json:"command"`
	Time            time.Time `json:"time"`
	DurationSeconds float64   `json:"duration_seconds"`
	Result          string    `json:"result"`
	Stage           string    `json:"stage,omitempty"`
	Step            string    `json:"step,omitempty"`
	Error           string    `json:"error,omitempty"`
}

// Status writes a status.
func (t *Text) Status(s Status) {
	t.row("phase", s.Phase)
	if s.Unreadable != "" {
		t.row("why", s.Unreadable)
	}
	if s.Recipe != "" {
		t.row("recipe", s.Recipe+" "+s.RecipeVersion)
		if s.InstallationID != "" {
			t.row("installation", s.InstallationID)
		}
		t.row("fingerprint", s.Fingerprint)
	}
	if s.Prefix != "" {
		t.row("prefix", s.Prefix)
	}
	if r := s.LastRun; r != nil {
		t.row("last run", r.Command+" "+r.Result+" at "+r.Time.UTC().Format(time.RFC3339))
		if r.Error != "" {
			t.row("", r.Error)
		}
	}
	t.daemon(s.Daemon)
	for _, d := range s.Drift {
		t.row("drift", d.Thing+": "+d.Found+" ("+d.Address+")")
	}
	for _, p := range s.Pending {
		t.row("pending", p.whose()+" "+p.sentence())
	}
	for _, d := range s.Debts {
		t.row("owes restart", d.Unit+": "+d.Cause+" "+d.Reason)
	}
	for _, d := range s.Diagnostics {
		t.Warning(d)
	}
	if s.Provisional {
		t.Warning(Diagnostic{Severity: "warning", Summary: "Provisional", Detail: "another run is changing the host"})
	}
}

func (t *Text) daemon(d *Daemon) {
	if d == nil {
		return
	}
	t.row("daemon", d.State+" since "+d.Since.UTC().Format(time.RFC3339))
	if l := d.LastLook; l != nil && l.Error != "" {
		t.row("", l.Error)
	}
	for _, address := range d.Held {
		t.row("left", address+": the daemon repaired it too often within an hour")
	}
}

func (t *Text) row(name, value string) { t.Out.printf("%-13s %s\n", name, value) }

// Preflight is the document of preflight.
type Preflight struct {
	FormatVersion string    `json:"format_version"`
	Passed        bool      `json:"passed"`
	ErrorCount    int       `json:"error_count"`
	WarningCount  int       `json:"warning_count"`
	Findings      []Finding `json:"findings"`
}

// Finding is what one requirement found.
type Finding struct {
	Address string `json:"address"`
	// Status is "ok", "warning", "error" or "unknown".
	Status  string `json:"status" doc:"ok, warning, error or unknown"`
	Summary string `json:"summary,omitempty"`
	Advice  string `json:"advice,omitempty"`
	Range   *Range `json:"range,omitempty"`
}

// Preflight writes findings, those that pass only when asked for. Quiet, a host
// that meets everything is passed over in silence: that is every boot.
func (t *Text) Preflight(p Preflight) {
	colors := map[string]string{"ok": green, "warning": yellow, "error": red, "unknown": magenta}
	for _, f := range p.Findings {
		if f.Status == "ok" && !t.Verbose {
			continue
		}
		t.Out.printf("  %s %s: %s\n", t.Out.paint(colors[f.Status], f.Status), f.Address, f.Summary)
		if f.Advice != "" {
			t.Out.printf("      %s\n", f.Advice)
		}
	}
	if p.Passed && t.Quiet && p.WarningCount == 0 {
		return
	}
	if p.Passed {
		t.Out.printf("The host meets the recipe's requirements (%s, %s).\n", counted(len(p.Findings), "requirement", "requirements"), counted(p.WarningCount, "warning", "warnings"))
		return
	}
	t.Out.printf("The host does not meet the recipe's requirements: %s, %s.\n", counted(p.ErrorCount, "error", "errors"), counted(p.WarningCount, "warning", "warnings"))
}
