package rules

import (
	"strconv"
	"strings"
	"time"

	"hostler/interpreter/lint"
)

func unitRestartLimit() *lint.Rule {
	return &lint.Rule{
		Name: "unit-restart-limit", Summary: "Gives up after seconds", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "`Restart=` tries again after 100 ms, and five starts within ten seconds are the limit: a service that waits for something gives up\n" +
			"after half a second, for good. Write `RestartSec=` of more than two seconds, so that the limit is never met, or say what is meant\n" +
			"with `StartLimitIntervalSec=` in `[Unit]`; `0` is no limit.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Restart=«on-failure»
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Restart=on-failure
    RestartSec=5s
  EOT
}
`,
		Check: checkUnitRestartLimit,
	}
}

func checkUnitRestartLimit(p *lint.Pass) {
	for _, u := range p.Units() {
		l, ok := u.Last("Service", "Restart")
		if !ok || !l.Known() || l.Value == "no" || l.Value == "" || !u.Closed() || limited(u) {
			continue
		}
		// Five starts within ten seconds is systemd's default.
		delay, known := span(u, "RestartSec")
		if known && delay*5 <= 10*time.Second {
			p.ReportStep(u.Step, l.ValueRange(), "With a pause of %s five starts are used up within ten seconds, and the service stays down. Write RestartSec=5s, or StartLimitIntervalSec= in [Unit].", delay)
		}
	}
}

func limited(u *lint.Unit) bool {
	return len(u.All("Unit", "StartLimitIntervalSec", "StartLimitInterval", "StartLimitBurst"))+
		len(u.All("Service", "StartLimitIntervalSec", "StartLimitInterval", "StartLimitBurst", "RestartSteps")) > 0
}

// span is the pause before a restart; known is false when it cannot be read.
func span(u *lint.Unit, key string) (d time.Duration, known bool) {
	l, ok := u.Last("Service", key)
	if !ok || l.Value == "" {
		return 100 * time.Millisecond, true
	}
	text := strings.ReplaceAll(l.Value, " ", "")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	for long, short := range map[string]string{"minutes": "m", "minute": "m", "min": "m", "seconds": "s", "second": "s", "sec": "s", "hours": "h", "hour": "h", "hr": "h", "msec": "ms"} {
		if head, found := strings.CutSuffix(text, long); found {
			text = head + short
			break
		}
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}
