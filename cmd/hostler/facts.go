package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/report"
)

func (a *app) factsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "facts", Short: "Show the facts that recipes read as host.*",
		Long:    "Facts are captured once per run. Those of a running system are unknown on an offline host.",
		Example: example("hostler facts --output json", "hostler facts --root /mnt/image"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				facts, err := host.ReadFacts(c.Context(), in.Host.View())
				if err != nil {
					return err
				}
				a.showFacts(facts)
				return nil
			})
		},
	}
	return a.takes(c, 0, a.rootFlag, a.outputFlag)
}

func (a *app) showFacts(f host.Facts) {
	if a.json() {
		a.document(factsDocument{report.FormatVersion, f})
		return
	}
	for _, row := range [][2]string{
		{"host.os.id", f.OS.ID}, {"host.os.id_like", strings.Join(f.OS.IDLike, " ")}, {"host.os.version_id", f.OS.VersionID},
		{"host.os.variant_id", f.OS.VariantID}, {"host.os.name", f.OS.Name}, {"host.arch", f.Arch}, {"host.hostname", f.Hostname},
		{"host.kernel", f.Kernel}, {"host.systemd", number(f.Systemd)}, {"host.image_managed", fmt.Sprint(f.ImageManaged)},
		{"host.root", f.Root},
	} {
		value := row[1]
		if value == "" {
			value = "(unknown)"
		}
		fmt.Fprintf(a.out.W, "%-20s %s\n", row[0], value)
	}
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// factsDocument is the JSON document of facts.
type factsDocument struct {
	FormatVersion string `json:"format_version"`
	host.Facts
}
