package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/operate"
)

func (a *app) supportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "support", Short: "Gather what a supporter needs in one tar",
		Long: "Writes one tar with status, facts, plan, record, history, machines, and the state and journal of the units that are owned. Contents\n" +
			"and what looks like a secret are taken out; journals hold what programs write, so read them before you pass it on.",
		Example: example("hostler support", "hostler support --file - | ssh desk.example.com 'cat > host.tar'"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch file {
			case "":
				file = "hostler-support-" + time.Now().UTC().Format("20060102T150405Z") + ".tar"
			case "-":
				file = ""
			}
			err := a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				return a.into(file, func(w io.Writer) error { return operate.Support(c.Context(), in, version, w) })
			})
			if err == nil && file != "" {
				fmt.Fprintln(a.out.W, file)
			}
			return err
		},
	}
	c.Flags().StringVar(&file, "file", "", "`FILE` to write, - for standard output; without it, one named by the time")
	return a.takes(c, 0, a.rootFlag)
}
