// Package history keeps what runs did: one file a run, so that an operator can
// ask later what was changed, when, why, and what took how long.
//
// Runs that changed or failed something are kept below /var/lib/hostler, as
// many as [Keep] says; those that found everything as wanted below /run, where
// the next boot clears them. What is kept holds no secret.
package history

import (
	"time"
)

// FormatVersion is that of a run's document.
const FormatVersion = "1"

// Run is what one run did.
type Run struct {
	FormatVersion  string    `json:"format_version"`
	Number         int       `json:"number" doc:"counts from 1; it names the run in history show and report"`
	Command        string    `json:"command"`
	Version        string    `json:"version" doc:"of the program"`
	InstallationID string    `json:"installation_id,omitempty"`
	Recipe         string    `json:"recipe,omitempty"`
	RecipeVersion  string    `json:"recipe_version,omitempty"`
	Began          time.Time `json:"began"`
	DurationUsec   int64     `json:"duration_usec"`
	Result         string    `json:"result" doc:"ok, failed, deferred, or died: killed or crashed, of which its steps are not known"`
	Phase          string    `json:"phase" doc:"of the installation afterwards"`
	Stage          string    `json:"stage,omitempty" doc:"where it failed"`
	Step           string    `json:"step,omitempty" doc:"the step that failed"`
	Reason         string    `json:"reason,omitempty" doc:"the step's failure_reason, or the class of the fault"`
	Cause          string    `json:"cause,omitempty" doc:"what went wrong"`
	Advice         string    `json:"advice,omitempty" doc:"what to do about it"`
	Changed        int       `json:"changed"`
	Unchanged      int       `json:"unchanged"`
	Failed         int       `json:"failed"`
	Steps          []Step    `json:"steps,omitempty" doc:"in the order in which they ended; only in history show"`
	Warnings       []Warning `json:"warnings,omitempty" doc:"only in history show"`
}

// Step is what a run did with one step, or with one thing that it undid.
type Step struct {
	Address string `json:"address"`
	Type    string `json:"type,omitempty"`
	Stage   string `json:"stage,omitempty"`
	Machine string `json:"machine,omitempty"`
	Action  string `json:"action" doc:"as in a plan"`
	Reason  string `json:"reason,omitempty" doc:"why"`
	// StartUsec counts from the beginning of the run.
	StartUsec    int64    `json:"start_usec" doc:"from the beginning of the run"`
	DurationUsec int64    `json:"duration_usec"`
	Error        string   `json:"error,omitempty"`
	Things       []string `json:"things,omitempty" doc:"what changed, such as path:/etc/motd"`
	Drift        []string `json:"drift,omitempty" doc:"what was found changed behind our back"`
	After        []string `json:"after,omitempty" doc:"the steps whose change it acted upon"`
	Work         []Work   `json:"work,omitempty" doc:"long work it waited for"`
}

// Work is a piece of long work in a step.
type Work struct {
	What         string `json:"what" doc:"such as download or unpack"`
	Name         string `json:"name"`
	StartUsec    int64  `json:"start_usec"`
	DurationUsec int64  `json:"duration_usec"`
	Bytes        int64  `json:"bytes"`
}

// Warning is something that an operator should know.
type Warning struct {
	Address string `json:"address,omitempty"`
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
}

// Duration is how long the run took.
func (r *Run) Duration() time.Duration { return time.Duration(r.DurationUsec) * time.Microsecond }

// Ended is when the run ended.
func (r *Run) Ended() time.Time { return r.Began.Add(r.Duration()) }

// Duration is how long the step took.
func (s *Step) Duration() time.Duration { return time.Duration(s.DurationUsec) * time.Microsecond }

// Did says whether the step changed something.
func (s *Step) Did() bool { return s.Error == "" && s.Action != "none" }

// At is when the step ended.
func (r *Run) At(s *Step) time.Time {
	return r.Began.Add(time.Duration(s.StartUsec+s.DurationUsec) * time.Microsecond)
}
