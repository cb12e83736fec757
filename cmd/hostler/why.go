package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/operate"
)

func (a *app) whyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "why THING", Short: "Say which step owns a thing, and when and why it changed",
		Long: "THING is path:X, unit:Y, or a thing as plan and verify show it; a path or the name of a unit alone will do, and\n" +
			"machine:NAME/path:X is inside a machine. Says the recipe, file, line and step that own it, when and why it last changed, and what\n" +
			"restarts a unit. A thing that nothing owns ends with exit code 1.",
		Example: example("hostler why /etc/containerd/config.toml", "hostler why unit:containerd.service", "hostler why machine:kube1/path:/etc/hostname --output json"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("why needs one thing to ask about; see %s --help", c.CommandPath())
			}
			return a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				answer, err := operate.Ask(c.Context(), in, args[0])
				if has[*operate.UnclearError](err) {
					return &codeError{code: exitUsage, err: err}
				}
				if err != nil {
					return err
				}
				if a.json() {
					a.document(answer)
				} else {
					operate.WriteWhy(a.out.W, answer)
				}
				if !answer.Owned {
					return &codeError{code: exitFailed}
				}
				return nil
			})
		},
	}
	return a.takes(c, 1, a.rootFlag, a.outputFlag)
}
