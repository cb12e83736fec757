// Command measure runs a command some times, one after the other, and prints
// what each run took as a line of JSON. It runs in the host where the command
// is measured, so that nothing but the command is.
//
//	measure TIMES COMMAND [ARGUMENT…]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Run is what one run took.
type Run struct {
	Wall time.Duration `json:"wall"` // nanoseconds, as all durations
	User time.Duration `json:"user"`
	Sys  time.Duration `json:"sys"`
	RSS  int64         `json:"rss"` // bytes, the most at any time
}

func main() {
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func measure(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: measure TIMES COMMAND [ARGUMENT…]")
	}
	times, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for range times {
		run, err := one(args[1:])
		if err != nil {
			return err
		}
		if err := out.Encode(run); err != nil {
			return err
		}
	}
	return nil
}

func one(argv []string) (Run, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	began := time.Now()
	text, err := cmd.CombinedOutput()
	wall := time.Since(began)
	if err != nil {
		return Run{}, fmt.Errorf("%q: %w: %s", argv, err, text)
	}
	run := Run{Wall: wall, User: cmd.ProcessState.UserTime(), Sys: cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		run.RSS = usage.Maxrss << 10
	}
	return run, nil
}
