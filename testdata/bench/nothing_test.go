//go:build e2e

package bench

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hostler/testdata/lab"
	"hostler/testdata/lab/standin"
)

var write = flag.Bool("write", false, "write the results to docs/benchmarks")

// The most that finding nothing to do may cost.
const (
	mostWall    = 30 * time.Millisecond
	mostRSS     = 30 << 20
	mostPerStep = 50 * time.Microsecond
)

// steps are the sizes of generated recipes.
func steps() []int { return []int{100, 1000, 10000} }

// row is one line of the results.
type row struct {
	what  string
	steps int
	cost
}

// TestCostOfNothing measures ensure on healthy, complete hosts.
func TestCostOfNothing(t *testing.T) {
	shipped, files := []row{kubernetesWorker(t), nspawnWorker(t)}, []row{}
	for _, n := range steps() {
		files = append(files, generated(t, n))
	}
	least, most := files[0], files[len(files)-1]
	perStep := (most.wall - least.wall) / time.Duration(most.steps-least.steps)
	rows := slices.Concat(shipped, files)
	text := table(rows) + fmt.Sprintf("\nA file step costs %v more wall time.\n", perStep.Round(100*time.Nanosecond))
	text += compared(t)
	t.Log("\n" + text)
	if *write {
		publish(t, text, files)
	}
	check(t, rows, perStep)
}

// kubernetesWorker measures the largest recipe in the binary, its daemon at
// rest.
func kubernetesWorker(t *testing.T) row {
	const recipe = "recipe:azure-container-linux/3/kubernetes-worker"
	acl, err := os.ReadFile("../os-release/acl.os-release")
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, lab.Options{Variants: []lab.Variant{lab.OSRelease(string(acl)), lab.ReadOnlyUsr, lab.NoPackageManager, lab.NoexecTmp}})
	defer h.Down()
	h.PushTree("/srv/image", imageLayout(t))
	h.Push("/root/inputs.hcl", []byte(standin.WorkerInputs(t, "oci-layout:/srv/image")), 0o600)
	h.MustExec(program, "apply", recipe, "--inputs", "/root/inputs.hcl")
	return atRest(t, h, recipe)
}

// nspawnWorker measures the recipe without Kubernetes.
func nspawnWorker(t *testing.T) row {
	const recipe = "recipe:debian/12/nspawn-worker"
	h := newHost(t, lab.Options{Files: map[string]string{"/usr/lib/modules/none/modules.dep": ""}}) // the recipe binds /lib/modules
	defer h.Down()
	h.PushTree("/srv/image", imageLayout(t))
	h.MustExec(program, "apply", recipe, "--var", "rootfs_image=oci-layout:/srv/image")
	return atRest(t, h, recipe)
}

// atRest measures ensure on a host where a recipe is complete.
func atRest(t *testing.T, h *lab.Host, recipe string) row {
	t.Helper()
	var plan struct{ Actions []json.RawMessage }
	if err := json.Unmarshal([]byte(h.MustExec(program, "plan", "--output", "json")), &plan); err != nil {
		t.Fatal(err)
	}
	return row{"`" + recipe + "`", len(plan.Actions), measured(t, h, program, "ensure")}
}

// imageLayout is an OCI layout of the lab's guest.
func imageLayout(t *testing.T) string {
	t.Helper()
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), lab.GuestLayer(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	index, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = index.AppendImage(image)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// generated measures a recipe of n files.
func generated(t *testing.T, n int) row {
	h := newHost(t, lab.Options{Files: map[string]string{"/srv/bench.hcl": recipe(n)}})
	defer h.Down()
	h.MustExec(program, "apply", "/srv/bench.hcl", "--quiet")
	return row{fmt.Sprintf("%d files", n), n, measured(t, h, program, "ensure")}
}

// recipe is one of n file steps.
func recipe(n int) string {
	var b strings.Builder
	b.WriteString("recipe \"bench\" {\n  language = 1\n  version = \"1.0.0\"\n  supports \"debian\" { id = \"debian\" }\n  fingerprint = fingerprint({})\n}\n")
	for first := 0; first < n; first += 1000 {
		fmt.Fprintf(&b, "write_file_if_changed \"files_%d\" {\n  for_each = [for i in range(%d) : format(\"%%04d\", i)]\n  path = \"/etc/bench/%d/${each.key}.conf\"\n"+
			"  content = \"file ${each.key} of block %d\\n\"\n}\n", first, min(1000, n-first), first, first)
	}
	return b.String()
}

// check fails the test when a limit is passed.
func check(t *testing.T, rows []row, perStep time.Duration) {
	t.Helper()
	for _, r := range rows {
		if r.writes > 0 || r.packets > 0 {
			t.Errorf("%s: %d writes, %d packets", r.what, r.writes, r.packets)
		}
	}
	if r := rows[0]; r.wall > mostWall || r.rss > mostRSS {
		t.Errorf("%s: %v and %d MB, the most are %v and %d MB", r.what, r.wall, r.rss>>20, mostWall, mostRSS>>20)
	}
	if perStep > mostPerStep {
		t.Errorf("%v a file step, the most is %v", perStep, mostPerStep)
	}
}

// publish writes the results where they are read; the rows are drawn.
func publish(t *testing.T, text string, rows []row) {
	t.Helper()
	const dir = "../../docs/benchmarks/"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	page := "# The cost of nothing\n\nWhat `hostler ensure` takes on a healthy, complete host: medians of " + fmt.Sprint(times) +
		" runs in a host of the lab, as `make bench` prints them. Figures of one run compare with each other, not with those of another machine.\n\n" +
		text + "\nThe cost by number of file steps is [drawn](nothing.svg).\n"
	for name, content := range map[string]string{"nothing.md": page, "nothing.svg": plot(rows)} {
		if err := os.WriteFile(dir+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
