package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter/deliver"
)

func (r *rendering) flags(a *app, c *cobra.Command) {
	f := c.Flags()
	name := func(flag string) string { return strings.TrimPrefix(flag, "--") }
	f.StringVar(&r.URL, name(deliver.FlagURL), "", "`URL` of the hostler program, bare, as the host fetches it")
	f.StringVar(&r.SHA256, name(deliver.FlagSHA256), "", "`DIGEST` of the program, or the line of a checksum file that has it")
	f.StringArrayVar(&r.credentials, name(deliver.FlagCredential), nil, "sensitive variable whose value is on the host, `NAME=FILE`, or NAME for a credential of the host's systemd; may be repeated")
	f.StringVar(&r.platform, name(deliver.FlagPlatform), "", "`CLOUD` whose limit on user data holds: aws or azure")
	f.StringVar(&r.pointerURL, name(deliver.FlagPointer), "", "write a small text that fetches the whole from `URL` and checks its digest")
	f.StringVar(&r.wholeFile, "pointer-file", "", "`FILE` that gets the whole, to be put at the URL; for root alone, since it holds the inputs")
	f.BoolVar(&a.flags.quiet, "quiet", false, "faults and warnings only")
	complete(c, name(deliver.FlagPlatform), "aws", "azure")
}

func formatNames() (names []string) {
	for _, f := range deliver.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func formatLines() string {
	var b strings.Builder
	for _, f := range deliver.Formats() {
		fmt.Fprintf(&b, "  %-11s %s; needs %s\n", f.Name, f.Summary, f.Needs)
	}
	return b.String()
}

func credentialFlags(texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, file, _ := strings.Cut(text, "=")
		if _, twice := all[name]; twice || name == "" {
			return nil, usagef("--credential takes NAME=FILE or NAME, each name once")
		}
		all[name] = file
	}
	return all, nil
}
