package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/operate"
	"hostler/interpreter/resident"
)

func (a *app) daemonCommand() *cobra.Command {
	var every time.Duration
	var socket string
	c := &cobra.Command{
		Use: "daemon", Short: "Keep a complete installation as it is",
		Long: "What the daemon unit runs. It looks at the host on schedule and when something that is owned changes, and repairs as on_drift\n" +
			"says, each step a few times an hour at most. It stands down, with exit status 69, while an installation is not finished.",
		Example: example("hostler daemon", "hostler daemon --every 1h"),
		RunE: func(c *cobra.Command, _ []string) error {
			if every < time.Second {
				return usagef("--every is at least a second, not %s", every)
			}
			return a.daemon(c.Context(), every, socket)
		},
	}
	c.Flags().DurationVar(&every, "every", resident.Every, "how often the host is looked at when nothing seems to change, a `DURATION`")
	c.Flags().StringVar(&socket, "metrics-socket", "", "`PATH` of a unix socket on which metrics are served over HTTP; none without it")
	return a.takes(c, 0, a.outputFlags)
}

func (a *app) daemon(ctx context.Context, every time.Duration, socket string) error {
	quiet := *a // the daemon tells of itself
	quiet.supervisor.notify, quiet.supervisor.alive = nil, 0
	t := quiet.telling("daemon")
	err := a.on(ctx, "daemon", func(in *interpreter.Interpreter) error {
		in.Emit = t.notable
		stop, err := serveMetrics(socket, operate.MetricsHandler(in, version))
		if err != nil {
			return err
		}
		defer stop()
		return resident.Daemon{
			Interpreter: in, Watch: watchHost, Rest: slim, Version: version, Every: every, First: min(every, resident.First),
			Alive: a.supervisor.alive, Notify: a.supervisor.notify, Say: a.say,
		}.Run(ctx)
	})
	if down, ok := errors.AsType[*resident.StandDownError](err); ok {
		a.say(resident.Note{Warning: true, Text: down.Error()})
		return &codeError{code: exitStoodDown}
	}
	return err
}
