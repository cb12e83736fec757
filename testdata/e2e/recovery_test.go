//go:build e2e

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// TestRecoveryGuide does what docs/guides/recovery.md says, line by line.
func TestRecoveryGuide(t *testing.T) {
	t.Parallel()
	follow(t, up(t, lab.Options{Store: lab.DiskXFS}), "recovery.md", "/srv/site/recipe.hcl")
}

// follow does what a guide says, with its recipe at that place.
func follow(t *testing.T, h *lab.Host, name, recipe string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/guides/" + name)
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	h.Push(recipe, []byte(strings.Join(fenced(guide, "hcl"), "")), 0o644)
	for _, line := range strings.Split(strings.Join(fenced(guide, "console"), ""), "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		command, codes := expected(t, command)
		res := h.Exec("env", "PATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c", command)
		t.Logf("$ %s\n%s%s", command, res.Stdout, res.Stderr)
		if !slices.Contains(codes, res.Code) {
			t.Fatalf("%s: want exit status %v: %s", command, codes, res)
		}
	}
}

// fenced are the texts of the code blocks of a language.
func fenced(guide, language string) (blocks []string) {
	for _, part := range strings.Split(guide, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block+"\n")
	}
	return blocks
}

var statuses = regexp.MustCompile(`\s+# (\d+)(?: or (\d+))?$`)

// expected splits a line of the guide into the command and the exit statuses it
// may end with.
func expected(t *testing.T, line string) (command string, codes []int) {
	t.Helper()
	found := statuses.FindStringSubmatch(line)
	if found == nil {
		return line, []int{0}
	}
	for _, text := range found[1:] {
		if text == "" {
			continue
		}
		code, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	return strings.TrimSuffix(line, found[0]), codes
}
