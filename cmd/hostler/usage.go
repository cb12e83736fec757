package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hostler/interpreter/syntax"
)

func usagef(format string, args ...any) error {
	return &codeError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range commands(root) {
		names = append(names, c.Name())
	}
	return usagef("there is no command %q.%s hostler --help lists them", name, didYouMean("", name, names))
}

// flagFault explains a flag that cannot be read. Flags before the command's
// name are read by the root, and so are those after a name that is none.
func flagFault(c *cobra.Command, err error) error {
	if !c.HasParent() {
		if name := c.Flags().Arg(0); name != "" {
			return unknownCommand(c, name)
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usagef("%v; see %s --help", err, c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=") // -root is read as letters
		if c.Flags().Lookup(name) != nil {
			return usagef("flags have two dashes; write --%s", name)
		}
	}
	hint := didYouMean("--", name, names)
	if name == "var-file" && c.Flags().Lookup("inputs") != nil {
		hint = " Files with values are given with --inputs." // as other tools call them
	}
	return usagef("there is no flag --%s.%s See %s --help", name, hint, c.CommandPath())
}

// didYouMean is a sentence with the name that was probably meant, or "".
func didYouMean(prefix, given string, names []string) string {
	if near := syntax.Suggest(given, names); near != "" {
		return fmt.Sprintf(" Did you mean %s%s?", prefix, near)
	}
	return ""
}

// spelled lets fmt's flags be written with a single dash too, as formatters
// have them.
func spelled(args []string) []string {
	if len(args) == 0 || args[0] != "fmt" {
		return args
	}
	out := append([]string{}, args...)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if arg == "-check" || arg == "-diff" || strings.HasPrefix(arg, "-check=") || strings.HasPrefix(arg, "-diff=") {
			out[i] = "-" + arg
		}
	}
	return out
}
