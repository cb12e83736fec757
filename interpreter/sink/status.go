// Package sink tells the status of a run to where a recipe says: HTTP servers,
// a condition of a Kubernetes object, files, the console, the pool that
// Hyper-V reads, and metrics for Prometheus.
//
// Telling is best effort: nothing here fails a run, and a [Board] delays its
// end by the bound of its slowest sink at most. What is told holds no secret.
package sink

import (
	"strings"
	"time"
	"unicode"
)

// Result is how a run stands.
type Result string

// The results. Running is told while a run lasts, the others at its end.
const (
	Running  Result = "running"
	OK       Result = "ok"
	Failed   Result = "failed"
	Deferred Result = "deferred"
)

// Status is what is told of a run. Fields that are not known are left out.
type Status struct {
	FormatVersion string `json:"format_version"`
	Host          string `json:"host,omitempty" doc:"the host's name"`
	// InstallationID, Recipe and RecipeVersion name the installation.
	InstallationID string    `json:"installation_id,omitempty" doc:"empty until the first live run"`
	Recipe         string    `json:"recipe,omitempty"`
	RecipeVersion  string    `json:"recipe_version,omitempty"`
	Command        string    `json:"command"`
	Phase          string    `json:"phase" doc:"of the installation, as in status"`
	Result         Result    `json:"result" doc:"running, ok, failed or deferred"`
	Stage          string    `json:"stage,omitempty" doc:"where it is, or where it failed"`
	Step           string    `json:"step,omitempty" doc:"the step that failed"`
	Reason         string    `json:"reason" doc:"one word in CamelCase: the step's failure_reason, or the class of the fault"`
	Cause          string    `json:"cause,omitempty" doc:"what went wrong"`
	Advice         string    `json:"advice,omitempty" doc:"what to do about it"`
	Began          time.Time `json:"began" doc:"when the run began"`
	Time           time.Time `json:"time" doc:"when this was so"`
	Changed        int       `json:"changed" doc:"steps that changed something"`

	// Metrics are those of the run, for sinks that write them; nil while it
	// runs.
	Metrics *Metrics `json:"-"`
}

// maxLine is how long a line on the console may be, in bytes.
const maxLine = 1000

// Line is the status as one line of text.
func (s Status) Line() string {
	where := s.Recipe
	if where == "" {
		where = "hostler"
	} else {
		where = "hostler " + s.Command + " " + where
	}
	parts := []string{where, string(s.Result)}
	if s.Stage != "" {
		parts = append(parts, "stage "+s.Stage)
	}
	if s.Step != "" {
		parts = append(parts, s.Step)
	}
	if s.Result == Failed {
		parts = append(parts, s.Reason, s.Cause, s.Advice)
	}
	return clip(plain(joined(parts)), maxLine)
}

// maxMessage is how long the message of a condition may be, in bytes.
const maxMessage = 1024

// Message is what a condition says: where it failed, why, and what to do.
func (s Status) Message() string {
	if s.Result != Failed {
		parts := []string{string(s.Result)}
		if s.Stage != "" {
			parts = append(parts, "stage "+s.Stage)
		}
		return plain(joined(parts))
	}
	advice := s.Advice
	if advice != "" {
		advice = ": " + advice
	}
	stage := ""
	if s.Stage != "" {
		stage = "stage " + s.Stage
	}
	head := clip(plain(joined([]string{stage, s.Step, s.Cause})), maxMessage-min(len(advice), maxMessage/2))
	return clip(head+plain(advice), maxMessage)
}

func joined(parts []string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, ": ")
}

// plain is text on one line, without what a terminal would obey.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) && r != ' ' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// clip cuts text to at most n bytes, at a character.
func clip(s string, n int) string {
	const more = "…"
	if len(s) <= n {
		return s
	}
	cut := max(0, n-len(more))
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + more
}
