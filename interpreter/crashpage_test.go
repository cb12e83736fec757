package interpreter_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// crashPage is docs/crash-points.md: at how many points a run was let go wrong.
type crashPage []crashRow

// crashRow is one recipe: the effects of its apply, all points of failure of its
// apply, update, repave and reset, and those that a run of the tests tries.
type crashRow struct {
	name                string
	effects, all, tried int
}

func sum(counts map[string]int) (n int) {
	for _, one := range counts {
		n += one
	}
	return n
}

func (p crashPage) tried() (n int) {
	for _, r := range p {
		n += r.tried
	}
	return n
}

func (p crashPage) all() (n int) {
	for _, r := range p {
		n += r.all
	}
	return n
}

func (p crashPage) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Points of failure\n\n"+
		"A run can die at every effect it has on the host: a write, an fsync, a rename, the start of a unit. `TestEveryEffect` counts the\n"+
		"effects of apply, update, repave and reset on a host in memory, and lets the run go wrong at them: by a crash before or after the\n"+
		"effect, by power loss in three ways of what the disk kept, and by each of six errors of the kernel, once and from then on. What\n"+
		"comes next, `ensure` or another `reset`, must end in the same host as without the fault.\n\n"+
		"`make test` tries %d points, samples that differ from way to way; there are %d, which\n"+
		"`go test ./interpreter -run TestEveryEffect -every -timeout 0` tries, in hours. On booted hosts `make e2e` adds 204 rounds of SIGKILL\n"+
		"at random moments and 24 power cuts.\n\n"+
		"| recipe | effects of apply | points of failure | tried by `make test` |\n|---|---|---|---|\n", p.tried(), p.all())
	for _, r := range p {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", r.name, r.effects, r.all, r.tried)
	}
	return b.String()
}

// hold compares the page with what was counted. An effect more or less makes no
// page stale; a twentieth does.
func (p crashPage) hold(t *testing.T) {
	t.Helper()
	const file = "../docs/crash-points.md"
	want := p.text()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`[0-9]+`)
	near := number.ReplaceAllString(string(have), "#") == number.ReplaceAllString(want, "#")
	was, is := number.FindAllString(string(have), -1), number.FindAllString(want, -1)
	for i := 0; near && i < len(is); i++ {
		a, _ := strconv.Atoi(was[i])
		b, _ := strconv.Atoi(is[i])
		near = (a-b)*(a-b)*400 <= b*b
	}
	if !near {
		t.Errorf("docs/crash-points.md is stale; go test ./interpreter -run '^TestEveryEffect$' -update writes it anew")
	}
}
