package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is a command's manual page, in man(7)'s macros. It has no date, so
// that the same release gives the same page.
func manPage(c *cobra.Command) string {
	var out strings.Builder
	name := "hostler"
	if c.HasParent() {
		name += "-" + c.Name()
	}
	fmt.Fprintf(&out, ".TH %s 1 \"\" \"hostler\" \"Hostler manual\"\n", roff(strings.ToUpper(name)))
	fmt.Fprintf(&out, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&out, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(synopsis(c)))
	fmt.Fprintf(&out, ".SH DESCRIPTION\n%s\n", roff(orShort(c)))
	if !c.HasParent() {
		out.WriteString(".SH COMMANDS\n")
		for _, sub := range commands(c) {
			fmt.Fprintf(&out, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
		}
	}
	manFlags(&out, c)
	if c.Example != "" {
		fmt.Fprintf(&out, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(unindent(c.Example)))
	}
	out.WriteString(".SH EXIT STATUS\n")
	for _, row := range exitMeanings() {
		fmt.Fprintf(&out, ".TP\n.B %d\n%s\n", row.code, roff(strings.ReplaceAll(row.meaning, "`", "")))
	}
	return out.String()
}

func synopsis(c *cobra.Command) string {
	if !c.HasParent() {
		return c.Use
	}
	return "hostler " + c.Use + " [flags]"
}

func manFlags(out *strings.Builder, c *cobra.Command) {
	first := true
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if first {
			out.WriteString(".SH OPTIONS\n")
			first = false
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + strings.ToUpper(value)
		}
		fmt.Fprintf(out, ".TP\n.B \\-\\-%s%s\n%s\n", roff(f.Name), roff(value), roff(usage))
	})
}

// roff escapes text for a manual page.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
