package report

// Version is the document of version.
type Version struct {
	FormatVersion string `json:"format_version"`
	Version       string `json:"version" doc:"of this program"`
	Language      int    `json:"language" doc:"version of the recipe language"`
	Go            string `json:"go" doc:"version of the compiler"`
	Platform      string `json:"platform" doc:"operating system and architecture"`
}

// Recipes is the document of recipes.
type Recipes struct {
	FormatVersion string   `json:"format_version"`
	Recipes       []Recipe `json:"recipes"`
}

// Recipe is a recipe that is shipped.
type Recipe struct {
	Name        string `json:"name" doc:"as RECIPE is given"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}
