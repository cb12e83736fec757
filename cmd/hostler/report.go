package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hostler/interpreter/history"
)

func (a *app) reportCommand() *cobra.Command {
	var format, file string
	c := &cobra.Command{
		Use: "report [RUN]", Short: "Draw a run as a timeline",
		Long: "Writes a picture of a run, the last one without a number: a bar for each step under the one that it waited for, downloads\n" +
			"inside it, and arrows from changes to the restarts that they caused. html adds a table and needs no other file.",
		Example: example("hostler report --format html > run.html", "hostler report 12 --format svg --file run.svg"),
		RunE: func(c *cobra.Command, args []string) error {
			write, ok := map[string]func(io.Writer, *history.Run) error{"svg": history.SVG, "html": history.HTML}[format]
			if !ok {
				return usagef("--format is svg or html, not %q", format)
			}
			return a.withRun(c.Context(), c.Name(), args, func(r *history.Run) error {
				return a.into(file, func(w io.Writer) error { return write(w, r) })
			})
		},
	}
	c.Flags().StringVar(&format, "format", "svg", "`FORMAT` of the picture: svg or html")
	c.Flags().StringVar(&file, "file", "", "`FILE` to write instead of standard output")
	complete(c, "format", "svg", "html")
	return a.takes(c, 1, a.rootFlag)
}

// into writes to a file of that name, readable by its owner alone, or to
// standard output when it is "". What was written by halves is removed.
func (a *app) into(name string, write func(io.Writer) error) error {
	if name == "" {
		return write(a.out.W)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another --file, or remove it", name)
	}
	if err != nil {
		return err
	}
	err = write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}
