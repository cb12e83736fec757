package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"hostler/interpreter/eval"
	"hostler/interpreter/report"
)

func (a *app) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "version", Short: "Show the version", Example: example("hostler version --output json"),
		RunE: func(*cobra.Command, []string) error {
			v := report.Version{
				FormatVersion: report.FormatVersion, Version: version, Language: eval.LanguageVersion,
				Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
			}
			if a.json() {
				a.document(v)
				return nil
			}
			fmt.Fprintf(a.out.W, "hostler %s (language %d, %s, %s)\n", v.Version, v.Language, v.Go, v.Platform)
			return nil
		},
	}
	return a.takes(c, 0, a.outputFlag)
}
