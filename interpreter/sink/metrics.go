package sink

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Metrics are what Prometheus is told of a host.
type Metrics struct {
	// Version is that of the program, Language that of the recipe language.
	Version  string
	Language int
	// Recipe and RecipeVersion are "" when nothing is installed.
	Recipe, RecipeVersion string
	// Phase is "absent", "installing", "complete", "resetting" or
	// "unreadable".
	Phase string
	// Debts is how many restarts are owed.
	Debts int
	// Run is the last run, nil when none is known.
	Run *RunMetrics
}

// RunMetrics are those of the last run.
type RunMetrics struct {
	Command, Result string
	Ended           time.Time
	Duration        time.Duration
	// Changed, Unchanged and Failed count steps; Drift counts things that were
	// changed behind our back, Repaired those that were put right.
	Changed, Unchanged, Failed, Drift, Repaired int
	Steps                                       []StepMetrics
}

// StepMetrics is how long a step took.
type StepMetrics struct {
	Step, Stage string
	Duration    time.Duration
}

// phases are the values of hostler_phase.
var phases = [...]string{"absent", "installing", "complete", "resetting", "unreadable"}

// Text is the metrics in Prometheus' text format, families by their names.
func (m Metrics) Text() []byte {
	t := &exposition{}
	t.family("hostler_build_info", "The program that runs; the value is 1.")
	t.sample(1, "version", m.Version, "language", strconv.Itoa(m.Language))
	if m.Run != nil {
		m.Run.text(t)
	}
	t.family("hostler_phase", "Whether the installation is in a phase.")
	for _, phase := range phases {
		t.sample(truth(phase == m.Phase), "phase", phase)
	}
	if m.Recipe != "" {
		t.family("hostler_recipe_info", "The recipe that is installed; the value is 1.")
		t.sample(1, "recipe", m.Recipe, "version", m.RecipeVersion)
	}
	t.family("hostler_restart_debts", "Restarts of units that are owed.")
	t.sample(float64(m.Debts))
	if m.Run != nil && len(m.Run.Steps) > 0 {
		t.family("hostler_step_duration_seconds", "How long a step took in the last run.")
		for _, s := range m.Run.unique() {
			t.sample(s.Duration.Seconds(), "step", s.Step, "stage", s.Stage)
		}
	}
	return []byte(t.String())
}

func (r *RunMetrics) text(t *exposition) {
	t.family("hostler_last_run_drifted_things", "Things that the last run found changed behind our back.")
	t.sample(float64(r.Drift))
	t.family("hostler_last_run_duration_seconds", "How long the last run took.")
	t.sample(r.Duration.Seconds())
	t.family("hostler_last_run_info", "The last run; the value is 1.")
	t.sample(1, "command", r.Command, "result", r.Result)
	t.family("hostler_last_run_repaired_things", "Things that the last run put right.")
	t.sample(float64(r.Repaired))
	t.family("hostler_last_run_steps", "Steps of the last run by how they ended.")
	t.sample(float64(r.Changed), "result", "changed")
	t.sample(float64(r.Failed), "result", "failed")
	t.sample(float64(r.Unchanged), "result", "unchanged")
	t.family("hostler_last_run_success", "Whether the last run ended well.")
	t.sample(truth(r.Result != string(Failed)))
	t.family("hostler_last_run_timestamp_seconds", "When the last run ended, in seconds since the epoch.")
	t.sample(float64(r.Ended.UnixMilli()) / 1000)
}

// unique are the steps, parts of one step added up: a series must not be there
// twice.
func (r *RunMetrics) unique() []StepMetrics {
	var all []StepMetrics
	for _, s := range r.Steps {
		at := slices.IndexFunc(all, func(o StepMetrics) bool { return o.Step == s.Step && o.Stage == s.Stage })
		if at < 0 {
			all = append(all, s)
			continue
		}
		all[at].Duration += s.Duration
	}
	return all
}

// exposition writes gauges.
type exposition struct {
	strings.Builder
	name string
}

func (t *exposition) family(name, help string) {
	t.name = name
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

// escape escapes the value of a label.
var escape = strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`)

// sample writes a value with labels, given as names and values in turn.
func (t *exposition) sample(value float64, labels ...string) {
	t.WriteString(t.name)
	for i := 0; i+1 < len(labels); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		fmt.Fprintf(t, "%s%s=\"%s\"", open, labels[i], escape.Replace(strings.ToValidUTF8(labels[i+1], "�")))
	}
	if len(labels) > 0 {
		t.WriteString("}")
	}
	fmt.Fprintf(t, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
