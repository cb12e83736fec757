package operate_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/operate"
)

// TestMetricsHandler: a scraper gets the metrics of the host as it is.
func TestMetricsHandler(t *testing.T) {
	r := demo(t)
	handler := operate.MetricsHandler(r.interpreter("daemon"), "0.1.0")
	get := func(method string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, "http://host/metrics", nil))
		return w
	}
	w := get(http.MethodGet)
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d: %v", w.Code, w.Header())
	}
	text := w.Body.String()
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for name, want := range map[string]float64{"hostler_last_run_success": 1, "hostler_restart_debts": 0, "hostler_recipe_info": 1} {
		if f := families[name]; f == nil || f.Metric[0].Gauge.GetValue() != want {
			t.Errorf("%s: %v", name, f)
		}
	}
	if !strings.Contains(text, `hostler_phase{phase="complete"} 1`) || !strings.Contains(text, `step="write_file_if_changed.conf"`) {
		t.Error(text)
	}
	if w := get(http.MethodPost); w.Code != http.StatusMethodNotAllowed {
		t.Error(w.Code)
	}
	bad := newRig(t, memory.Options{})
	if m, err := operate.Metrics(context.Background(), bad.interpreter("daemon"), "0.1.0"); err != nil || m.Phase != "absent" || m.Run != nil {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestFailsAgain: a run that fails as the one before does not push others out of
// the history.
func TestFailsAgain(t *testing.T) {
	r := newRig(t, memory.Options{})
	if _, err := r.apply(motd); err != nil {
		t.Fatal(err)
	}
	if err := host.Remove(r.Host().Files, "/etc/motd"); err != nil {
		t.Fatal(err)
	}
	if err := r.Host().Files.Mkdir("/etc/motd", 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.ensure(); err == nil {
			t.Fatal("it did not fail")
		}
	}
	kept := 0
	for name := range r.kept() {
		if strings.HasPrefix(name, "/var/lib/hostler/site/runs/0") {
			kept++
		}
	}
	if runs := r.runs(); len(runs) != 4 || kept != 2 {
		t.Errorf("%d runs, %d kept", len(runs), kept)
	}
}
