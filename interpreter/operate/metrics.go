package operate

import (
	"context"
	"net/http"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/history"
	"hostler/interpreter/sink"
)

// MetricsOf adds to the metrics of a host those of its last run, nil for none.
func MetricsOf(run *history.Run, m sink.Metrics) sink.Metrics {
	if run == nil {
		return m
	}
	r := &sink.RunMetrics{
		Command: run.Command, Result: run.Result, Ended: run.Ended(), Duration: run.Duration(),
		Changed: run.Changed, Unchanged: run.Unchanged, Failed: run.Failed,
	}
	for i := range run.Steps {
		s := &run.Steps[i]
		r.Drift += len(s.Drift)
		if s.Did() {
			r.Repaired += len(s.Drift)
		}
		r.Steps = append(r.Steps, sink.StepMetrics{Step: s.Address, Stage: s.Stage, Duration: s.Duration()})
	}
	m.Run = r
	return m
}

// Metrics are those of a host now: what status says, and the last run that is
// kept. The drift in them is what that run found. version is that of the
// program.
func Metrics(ctx context.Context, in *interpreter.Interpreter, version string) (sink.Metrics, error) {
	now, err := in.Summary(ctx)
	if err != nil {
		return sink.Metrics{}, err
	}
	m := sink.Metrics{
		Version: version, Language: eval.LanguageVersion, Recipe: now.Identity.Recipe, RecipeVersion: now.Identity.RecipeVersion,
		Phase: now.Phase, Debts: len(now.Debts),
	}
	return MetricsOf(history.Last(in.Host.Files), m), nil
}

// MetricsHandler answers with the metrics of a host, in Prometheus' text format,
// at any path.
func MetricsHandler(in *interpreter.Interpreter, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		m, err := Metrics(r.Context(), in, version)
		if err != nil {
			http.Error(w, Redact(err.Error()), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(m.Text()) // there is nobody left to tell
	})
}
