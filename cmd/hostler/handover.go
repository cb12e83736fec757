package main

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
)

// handOver lets the installed program do what a delivered one was called for.
// It comes back when there is none that could.
func (a *app) handOver(c *cobra.Command) error {
	if a.flags.root != "" || os.Geteuid() != 0 {
		return nil
	}
	self, err := os.Executable()
	if err != nil || !delivery.MayBeDelivered(self) {
		return nil // also where who we are cannot be told
	}
	var successor string
	err = a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) (err error) {
		successor, err = in.Successor(context.WithoutCancel(c.Context()), self)
		return err
	})
	if err != nil || successor == "" {
		return err
	}
	// What cannot be executed after all leaves it to us.
	_ = syscall.Exec(successor, append([]string{successor}, os.Args[1:]...), os.Environ())
	return nil
}
