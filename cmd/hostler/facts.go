package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/rehearse/scene"
	"hostler/interpreter/report"
)

func (a *app) factsCommand() *cobra.Command {
	var record string
	c := &cobra.Command{
		Use: "facts", Short: "Show the facts that recipes read as host.*",
		Long: "Facts are captured once per run. Those of a running system are unknown on an offline host.\n" +
			"--record writes them to a file, with what recipe tests need beside them to describe the host.",
		Example: example("hostler facts --output json", "hostler facts --root /mnt/image", "hostler facts --record tests/fixtures/debian-12.facts.json"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				if record != "" {
					return recordFacts(c.Context(), in.Host.View(), record)
				}
				facts, err := host.ReadFacts(c.Context(), in.Host.View())
				if err != nil {
					return err
				}
				prefix, err := in.InstallPrefix(c.Context())
				if err != nil {
					return err
				}
				a.showFacts(facts, prefix)
				return nil
			})
		},
	}
	c.Flags().StringVar(&record, "record", "", "`FILE` to write the facts to, for recipe tests and the matrix")
	return a.takes(c, 0, a.rootFlag, a.outputFlag)
}

// recordFacts writes the facts of a host, for tests.
func recordFacts(ctx context.Context, v host.View, name string) error {
	recorded, err := scene.Record(ctx, v)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(recorded, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("record facts: %w", err)
	}
	return nil
}

func (a *app) showFacts(f host.Facts, prefix string) {
	if a.json() {
		a.document(factsDocument{report.FormatVersion, f, prefix})
		return
	}
	for _, row := range [][2]string{
		{"host.os.id", f.OS.ID}, {"host.os.id_like", strings.Join(f.OS.IDLike, " ")}, {"host.os.version_id", f.OS.VersionID},
		{"host.os.variant_id", f.OS.VariantID}, {"host.os.name", f.OS.Name}, {"host.arch", f.Arch}, {"host.hostname", f.Hostname},
		{"host.kernel", f.Kernel}, {"host.systemd", number(f.Systemd)}, {"host.image_managed", fmt.Sprint(f.ImageManaged)},
		{"host.prefix", prefix}, {"host.root", f.Root},
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
	Prefix string `json:"prefix" doc:"the install prefix of what is installed, else the default"`
}
