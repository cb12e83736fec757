package main

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Write a completion script for a shell",
		Example: example("hostler completion bash > /etc/bash_completion.d/hostler"),
		RunE: func(c *cobra.Command, args []string) error {
			shell := ""
			if len(args) > 0 {
				shell = args[0]
			}
			switch shell {
			case "bash":
				return c.Root().GenBashCompletionV2(a.out.W, true)
			case "zsh":
				return c.Root().GenZshCompletion(a.out.W)
			case "fish":
				return c.Root().GenFishCompletion(a.out.W, true)
			}
			return usagef("completion takes bash, zsh or fish")
		},
	}
	c.ValidArgs = []string{"bash", "zsh", "fish"}
	return a.takes(c, 1)
}
