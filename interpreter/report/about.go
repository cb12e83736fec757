package report

// Version is the document of version.
type Version struct {
	FormatVersion string `json:"format_version"`
	Version       string `json:"version" doc:"of this program"`
	Language      int    `json:"language" doc:"version of the recipe language"`
	Go            string `json:"go" doc:"version of the compiler"`
	Platform      string `json:"platform" doc:"operating system and architecture"`
}
