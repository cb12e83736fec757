package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/resident"
)

func (a *app) upgradeCommand() *cobra.Command {
	var sum string
	var back bool
	c := &cobra.Command{
		Use: "upgrade FILE|URL", Short: "Run another release of the interpreter, or go back",
		Long: "Puts a program into the slot that does not run, tries it, switches to it and starts the daemon anew. One whose daemon does\n" +
			"not stay up is taken back. A URL needs --sha256. --rollback goes back to the last good one and never waits for the lock.",
		Example: example("hostler upgrade ./hostler-0.2.0", "hostler upgrade https://downloads.example/hostler --sha256 9f86d081…", "hostler upgrade --rollback"),
		RunE: func(c *cobra.Command, args []string) error {
			sum = strings.ToLower(sum)
			remote := len(args) == 1 && (strings.HasPrefix(args[0], "https://") || strings.HasPrefix(args[0], "http://"))
			switch {
			case back && (len(args) > 0 || sum != ""):
				return usagef("--rollback goes back to what is installed; leave out the rest")
			case !back && len(args) == 0:
				return usagef("name the program to run: a file or a URL, or --rollback")
			case remote && sum == "":
				return usagef("a program from a URL needs --sha256")
			case sum != "" && !hexSum.MatchString(sum):
				return usagef("--sha256 is 64 hexadecimal digits")
			}
			return a.changeProgram(c, func(in *interpreter.Interpreter) (resident.Done, error) {
				return a.upgrade(c.Context(), in, args, sum)
			})
		},
	}
	c.Flags().StringVar(&sum, "sha256", "", "digest `HEX` that the program must have")
	c.Flags().BoolVar(&back, "rollback", false, "go back to the last good interpreter, without waiting for the lock")
	return a.takes(c, 1, a.outputFlags, a.waitFlag)
}

func (a *app) upgrade(ctx context.Context, in *interpreter.Interpreter, args []string, sum string) (done resident.Done, err error) {
	u := resident.Upgrade{Interpreter: in, Wait: a.flags.wait}
	if len(args) == 0 {
		done.Slot, err = u.RollBack(ctx)
		done.Changed, done.Version = err == nil, "the last good interpreter"
		return done, err
	}
	var program []byte
	if strings.Contains(args[0], "://") {
		program, err = resident.Fetch(ctx, in, args[0], sum)
	} else {
		program, err = readProgram(args[0], sum)
	}
	if err != nil {
		return done, err
	}
	return u.Run(ctx, program)
}
