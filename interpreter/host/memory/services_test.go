package memory_test

import (
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestServiceTypes(t *testing.T) {
	ends := func(status int, after time.Duration) memory.Outcome {
		return memory.Outcome{Ends: true, Status: status, After: after}
	}
	tests := map[string]struct {
		unit   string // after [Service] and ExecStart
		out    memory.Outcome
		job    host.JobResult
		active string // once it has settled
		result string
	}{
		"simple runs":             {"", memory.Outcome{}, "done", "active", "success"},
		"simple fails":            {"", ends(3, 0), "done", "failed", "exit-code"},
		"simple ends":             {"", ends(0, 0), "done", "inactive", "success"},
		"simple killed":           {"", memory.Outcome{Ends: true, Signal: 9}, "done", "failed", "signal"},
		"simple terminated":       {"", memory.Outcome{Ends: true, Signal: 15}, "done", "inactive", "success"},
		"simple ends, remains":    {"RemainAfterExit=yes", ends(0, 0), "done", "active", "success"},
		"success by status":       {"SuccessExitStatus=69 70", ends(69, 0), "done", "inactive", "success"},
		"idle":                    {"Type=idle", memory.Outcome{}, "done", "active", "success"},
		"exec runs":               {"Type=exec", memory.Outcome{}, "done", "active", "success"},
		"exec fails":              {"Type=exec", ends(1, 0), "done", "failed", "exit-code"},
		"exec has no program":     {"Type=exec", ends(203, 0), "failed", "failed", "exit-code"},
		"notify runs":             {"Type=notify", memory.Outcome{}, "done", "active", "success"},
		"notify fails":            {"Type=notify", ends(1, 0), "failed", "failed", "exit-code"},
		"notify ends too early":   {"Type=notify", ends(0, 0), "failed", "failed", "protocol"},
		"notify is silent":        {"Type=notify", memory.Outcome{Silent: true}, "failed", "failed", "timeout"},
		"notify, silent, 5 s":     {"Type=notify\nTimeoutStartSec=5", memory.Outcome{Silent: true}, "failed", "failed", "timeout"},
		"notify dies silently":    {"Type=notify", memory.Outcome{Silent: true, Ends: true, Status: 2, After: time.Second}, "failed", "failed", "exit-code"},
		"forking":                 {"Type=forking", ends(0, 0), "done", "active", "success"},
		"forking fails":           {"Type=forking", ends(1, 0), "failed", "failed", "exit-code"},
		"oneshot":                 {"Type=oneshot", ends(0, 0), "done", "inactive", "success"},
		"oneshot takes time":      {"Type=oneshot", ends(0, time.Minute), "done", "inactive", "success"},
		"oneshot fails":           {"Type=oneshot", ends(1, time.Minute), "failed", "failed", "exit-code"},
		"oneshot takes too long":  {"Type=oneshot\nTimeoutStartSec=10s", ends(0, time.Minute), "failed", "failed", "timeout"},
		"oneshot remains":         {"Type=oneshot\nRemainAfterExit=yes", ends(0, 0), "done", "active", "success"},
		"unknown type is simple":  {"Type=fancy", memory.Outcome{}, "done", "active", "success"},
		"a failing ExecStartPre":  {"ExecStartPre=/bin/false", memory.Outcome{}, "failed", "failed", "exit-code"},
		"a tolerated one":         {"ExecStartPre=-/bin/false", memory.Outcome{}, "done", "active", "success"},
		"ExecCondition no":        {"ExecCondition=/bin/false", memory.Outcome{}, "done", "inactive", "exec-condition"},
		"ExecCondition yes":       {"ExecCondition=/bin/true", memory.Outcome{}, "done", "active", "success"},
		"ExecCondition is broken": {"ExecCondition=/usr/bin/broken", memory.Outcome{}, "failed", "failed", "exit-code"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, memory.Options{
				Files:       unitFiles(map[string]string{"a.service": "[Service]\nExecStart=/bin/sleep 1\n" + tt.unit + "\n", "keep.service": "[Unit]\nAfter=a.service\n" + service}),
				Scripts:     map[string]memory.Script{"a.service": func(int) memory.Outcome { return tt.out }},
				Executables: []string{"broken"},
				Programs:    map[string]memory.Program{"broken": func(memory.Invocation) host.CommandResult { return host.CommandResult{ExitCode: 255} }},
			})
			b.run(host.JobStart, "keep.service") // refers to it, so that it is not forgotten
			if got := b.jobResult(host.JobStart, "a.service"); got != tt.job {
				t.Errorf("job result %q, want %q", got, tt.job)
			}
			b.Advance(time.Second)
			if u := b.unit("a.service"); u.ActiveState != tt.active || u.Result != tt.result {
				t.Errorf("settled as %s with %q, want %s with %q", u.ActiveState, u.Result, tt.active, tt.result)
			}
		})
	}
}

func TestExecutablesDecide(t *testing.T) {
	tests := map[string]struct {
		service string
		job     host.JobResult
		active  string
		status  int
	}{
		"unknown keeps running":    {"ExecStart=/usr/bin/kubelet --x", "done", "active", 0},
		"missing":                  {"ExecStart=/usr/bin/none", "done", "failed", 203},
		"by name":                  {"ExecStart=kubelet", "done", "active", 0},
		"unknown oneshot":          {"Type=oneshot\nExecStart=/usr/bin/kubelet", "done", "inactive", 0},
		"missing oneshot":          {"Type=oneshot\nExecStart=/usr/bin/none", "failed", "failed", 203},
		"missing but tolerated":    {"Type=oneshot\nExecStart=-/usr/bin/none", "done", "inactive", 0},
		"second of two fails":      {"Type=oneshot\nExecStart=/bin/true\nExecStart=/bin/false", "failed", "failed", 1},
		"program":                  {"Type=oneshot\nExecStart=/usr/bin/nft -f x", "failed", "failed", 4},
		"program killed":           {"Type=oneshot\nExecStart=/usr/bin/killed", "failed", "failed", 9},
		"sleep ends":               {"ExecStart=/bin/sleep 0.2", "done", "inactive", 0},
		"sleep with a unit":        {"ExecStart=/bin/sleep 200ms", "done", "inactive", 0},
		"sleep with nonsense":      {"ExecStart=/bin/sleep long", "done", "failed", 1},
		"only stop, remaining":     {"RemainAfterExit=yes\nExecStop=/bin/true", "done", "active", 0},
		"reset list":               {"ExecStart=/usr/bin/none\nExecStart=\nExecStart=\"/usr/bin/kubelet\"", "done", "active", 0},
		"text that makes no sense": {"nonsense\n= x\nExecStart=/usr/bin/kubelet\n; comment", "done", "active", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, memory.Options{
				Files:       unitFiles(map[string]string{"a.service": "Before=section\n[Service]\n" + tt.service + "\n", "keep.service": "[Unit]\nAfter=a.service\n" + service}),
				Executables: []string{"kubelet", "nft", "killed"},
				Programs: map[string]memory.Program{
					"nft": func(i memory.Invocation) host.CommandResult {
						return host.CommandResult{ExitCode: 4, Stderr: []byte("bad rule\n" + strings.Join(i.Argv, " "))}
					},
					"killed": func(memory.Invocation) host.CommandResult { return host.CommandResult{Signal: "SIGKILL"} },
				},
			})
			b.run(host.JobStart, "keep.service")
			if got := b.jobResult(host.JobStart, "a.service"); got != tt.job {
				t.Errorf("job result %q, want %q", got, tt.job)
			}
			b.Advance(time.Second)
			if u := b.unit("a.service"); u.ActiveState != tt.active || u.ExecMainStatus != tt.status {
				t.Errorf("settled as %s with status %d, want %s with %d", u.ActiveState, u.ExecMainStatus, tt.active, tt.status)
			}
		})
	}
}

func TestLogIsThatOfTheLastStart(t *testing.T) {
	b := newBox(t, memory.Options{
		Units: []memory.Unit{{Name: "a.service"}},
		Scripts: map[string]memory.Script{"a.service": func(n int) memory.Outcome {
			return memory.Outcome{Ends: true, Status: n, Log: []string{"first", "start " + string(rune('0'+n))}}
		}},
	})
	for range 2 {
		b.run(host.JobStart, "a.service")
		b.Advance(time.Second)
	}
	log, err := b.Units.Log(t.Context(), "a.service", 2)
	b.ok(err)
	b.same(log, "start 2", "a.service: Failed with result 'exit-code'.")
	log, err = b.Units.Log(t.Context(), "a.service", 100)
	b.ok(err)
	if len(log) != 3 {
		t.Errorf("the log is %q", log)
	}
}
