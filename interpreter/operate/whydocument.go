package operate

import "time"

// Why says who owns a thing, and when and why it last changed.
type Why struct {
	FormatVersion  string    `json:"format_version"`
	Asked          string    `json:"asked" doc:"path:X, unit:Y or another thing"`
	Owned          bool      `json:"owned"`
	InstallationID string    `json:"installation_id,omitempty"`
	Recipe         string    `json:"recipe,omitempty"`
	RecipeVersion  string    `json:"recipe_version,omitempty"`
	Owners         []Owner   `json:"owners" doc:"one for each thing that is meant"`
	Restarts       []Restart `json:"restarts" doc:"the steps that restart the unit when something changes"`
	Unit           *UnitNow  `json:"unit,omitempty" doc:"what the service manager says of the unit"`
	Above          string    `json:"above,omitempty" doc:"of a path that is not owned, the nearest thing above it that is"`
}

// Owner is one thing and the step that owns it.
type Owner struct {
	Thing       string   `json:"thing"`
	Step        string   `json:"step,omitempty" doc:"empty for a directory that was made for what is in it"`
	Type        string   `json:"type,omitempty"`
	Stage       string   `json:"stage,omitempty"`
	Machine     string   `json:"machine,omitempty"`
	Description string   `json:"description,omitempty"`
	Filename    string   `json:"filename,omitempty" doc:"where the step is written, as the recipe was given"`
	Line        int      `json:"line,omitempty"`
	Origin      string   `json:"origin" doc:"what it was before: absent, saved or adopted; untouched when it was not touched yet"`
	Changes     []Change `json:"changes" doc:"newest first, of the runs that are kept"`
}

// Restart is a step that restarts a unit.
type Restart struct {
	Step     string   `json:"step"`
	Machine  string   `json:"machine,omitempty"`
	Filename string   `json:"filename,omitempty"`
	Line     int      `json:"line,omitempty"`
	Watch    []string `json:"watch" doc:"the steps whose changes restart it"`
	Owed     string   `json:"owed,omitempty" doc:"why a restart is owed"`
	Changes  []Change `json:"changes" doc:"the restarts, newest first"`
}

// Change is one change of a thing.
type Change struct {
	Run     int       `json:"run" doc:"number of the run, for history show"`
	Time    time.Time `json:"time"`
	Command string    `json:"command"`
	Action  string    `json:"action"`
	Reason  string    `json:"reason,omitempty"`
	Because []string  `json:"because,omitempty" doc:"the steps whose change it acted upon"`
	Drift   bool      `json:"drift,omitempty" doc:"true when it was put right after a change behind our back"`
}

// UnitNow is the state of a unit.
type UnitNow struct {
	ActiveState string `json:"active_state"`
	SubState    string `json:"sub_state"`
	Result      string `json:"result,omitempty"`
	Restarts    int    `json:"restarts" doc:"by the service manager itself"`
}
