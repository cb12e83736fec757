// Command hostler applies host recipes: it turns a Linux host into what a
// recipe says, at every boot, and can undo it.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// version is set when a release is built.
var version = "0.1.0"

func main() { os.Exit(run(os.Args[1:], standard())) }

// run is the whole program but for the process itself.
func run(args []string, std streams) int {
	ctx, cause, stop := interruptible()
	defer stop()
	a := &app{streams: std}
	root := a.command()
	root.SetArgs(spelled(args))
	err := root.ExecuteContext(ctx)
	err = errors.Join(err, a.misnamed)
	return a.exit(errors.Join(err, a.unwritten(err)), cause())
}

// interruptible is a context that ends with an interrupt; cause then tells
// which signal it was. A second signal ends the process at once. stop lets
// signals be again.
func interruptible() (ctx context.Context, cause func() os.Signal, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	got := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup(1)
		signal.Notify(signals, syscall.SIGHUP) // the terminal is gone
	}
	go func() {
		select {
		case s := <-signals:
			got <- s
			signal.Stop(signals)
			cancel()
		case <-ctx.Done():
		}
	}()
	cause = func() os.Signal {
		select {
		case s := <-got:
			return s
		default:
			return nil
		}
	}
	return ctx, cause, func() { signal.Stop(signals); cancel() }
}
