package sink_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/sink"
)

var update = flag.Bool("update", false, "write the golden files")

func metrics() sink.Metrics {
	return sink.Metrics{
		Version: "0.1.0", Language: 1, Recipe: "worker", RecipeVersion: "1.0.0", Phase: "complete", Debts: 1,
		Run: &sink.RunMetrics{
			Command: "ensure", Result: "ok", Ended: at, Duration: 1500 * time.Millisecond, Changed: 2, Unchanged: 40, Drift: 3, Repaired: 2,
			Steps: []sink.StepMetrics{
				{`file["a\b"]`, "host", time.Second}, {"nspawn_machine.kube1", "machine/boot", 2 * time.Second},
				{"nspawn_machine.kube1", "machine/boot", time.Second},
			},
		},
	}
}

// TestMetrics: what is written keeps to Prometheus' rules and reads back.
func TestMetrics(t *testing.T) {
	text := metrics().Text()
	const golden = "testdata/metrics.prom"
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(text)); d != "" {
		t.Error(d)
	}
	for name, m := range map[string]sink.Metrics{"full": metrics(), "nothing installed": {Version: "0.1.0", Language: 1, Phase: "absent"}} {
		var parser expfmt.TextParser
		families, err := parser.TextToMetricFamilies(bytes.NewReader(m.Text()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if families["hostler_phase"] == nil || len(families["hostler_phase"].Metric) != 5 {
			t.Errorf("%s: %v", name, families["hostler_phase"])
		}
		problems, err := promlint.New(bytes.NewReader(m.Text())).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if name == "full" {
			step := families["hostler_step_duration_seconds"].Metric
			if len(step) != 2 || step[0].Label[0].GetValue() != `file["a\b"]` || step[1].Gauge.GetValue() != 3 {
				t.Errorf("%v", step)
			}
		}
	}
}

func TestMetricsFile(t *testing.T) {
	m := memory.New(memory.Options{Files: map[string]memory.File{"/run/keep": {}}})
	s := block.Sink{Metrics: &block.MetricsSink{Directory: "/run/metrics"}}
	if faults := tell(t, m, s, running("host")); faults != nil {
		t.Fatal(faults)
	}
	if _, err := m.Host().Files.Stat("/run/metrics/hostler.prom"); err == nil {
		t.Error("metrics of a run that has not ended")
	}
	ended := failed
	all := metrics()
	ended.Metrics = &all
	if faults := tell(t, m, s, ended); faults != nil {
		t.Fatal(faults)
	}
	if got := read(t, m.Host(), "/run/metrics/hostler.prom"); !strings.Contains(got, "hostler_last_run_success 1\n") {
		t.Error(got)
	}
}

var metricName = regexp.MustCompile(`hostler_[a-z_]+`)

// TestDashboard: the dashboard and the guide speak of metrics that are written,
// and the dashboard of all of them.
func TestDashboard(t *testing.T) {
	written := map[string]bool{}
	for _, name := range metricName.FindAllString(string(metrics().Text()), -1) {
		written[name] = true
	}
	dashboard, err := os.ReadFile("../../examples/grafana/hostler.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(dashboard) {
		t.Error("the dashboard is no JSON")
	}
	shown := map[string]bool{}
	for _, name := range metricName.FindAllString(string(dashboard), -1) {
		if shown[name] = true; !written[name] {
			t.Errorf("the dashboard asks for %s", name)
		}
	}
	for _, name := range []string{"hostler_last_run_info", "hostler_last_run_steps"} { // for tables of one's own
		shown[name] = true
	}
	guide, err := os.ReadFile("../../docs/guides/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range written {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	for _, name := range metricName.FindAllString(string(guide), -1) {
		if !written[name] {
			t.Errorf("the guide speaks of %s", name)
		}
	}
}
