package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"hostler/interpreter/history"
	"hostler/interpreter/host"
)

func (a *app) historyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "history [show [RUN]]", Short: "Show the runs that are kept, or what one of them did",
		Long: "Lists the runs that are kept, newest first: the last 50 that changed or failed something, and those since boot that\n" +
			"found everything as wanted. history show says what one run did, the last one without a number.",
		Example: example("hostler history", "hostler history show 12", "hostler history show --verbose --output json"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return a.listRuns(c.Context(), c.Name())
			case args[0] != "show":
				return usagef("history knows show only, not %q; see %s --help", args[0], c.CommandPath())
			}
			return a.withRun(c.Context(), c.Name(), args[1:], func(r *history.Run) error {
				if a.json() {
					a.document(r)
					return nil
				}
				history.WriteRun(a.out.W, r, a.flags.verbose)
				return nil
			})
		},
	}
	return a.takes(c, 2, a.rootFlag, a.outputFlags)
}

func (a *app) listRuns(ctx context.Context, command string) error {
	return a.onHost(ctx, command, func(h host.Host) error {
		runs, damaged, err := history.List(h.Files)
		if err != nil {
			return err
		}
		doc := history.NewDocument(runs, damaged)
		if a.json() {
			a.document(doc)
			return nil
		}
		history.WriteList(a.out.W, doc)
		a.notes(doc.Damaged)
		return nil
	})
}

// withRun runs fn with the run that args name, the last one without.
func (a *app) withRun(ctx context.Context, command string, args []string, fn func(*history.Run) error) error {
	number := 0
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return usagef("%q is no number of a run; hostler history lists them", args[0])
		}
		number = n
	}
	return a.onHost(ctx, command, func(h host.Host) error {
		r, err := history.Find(h.Files, number)
		if err != nil {
			return err
		}
		return fn(r)
	})
}
