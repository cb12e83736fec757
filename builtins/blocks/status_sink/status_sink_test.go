package statussink_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	statussink "hostler/builtins/blocks/status_sink"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

const (
	webhook    = "webhook {\n url = \"https://hooks.example/h\"\n token_file = \"/etc/token\"\n}"
	kubernetes = "kubernetes {\n server = \"https://api.example:6443/\"\n object = \"/api/v1/nodes/w1\"\n condition = \"HostReady\"\n token = \"t\"\n}"
)

func text(s string) cty.Value { return cty.StringVal(s) }

func TestContract(t *testing.T) {
	for _, body := range []string{webhook, kubernetes, "console {}"} {
		blocktest.Run(t, blocktest.Case{
			Type: statussink.Type(), Body: body, Quiet: true,
			Host: func(*testing.T) host.Host { return memory.New(memory.Options{}).Host() },
		})
	}
}

func TestTells(t *testing.T) {
	for body, want := range map[string]block.Sink{
		webhook: {Timeout: 5 * time.Second, Webhook: &block.WebhookSink{URL: "https://hooks.example/h", SinkAccess: block.SinkAccess{TokenFile: "/etc/token"}}},
		"timeout = \"1m\"\n" + kubernetes: {Timeout: time.Minute, Kubernetes: &block.KubernetesSink{
			Server: "https://api.example:6443", Object: "/api/v1/nodes/w1", Condition: "HostReady", SinkAccess: block.SinkAccess{Token: "t"},
		}},
		"file { path = \"/run/s.json\" }":       {Timeout: 5 * time.Second, File: &block.FileSink{Path: "/run/s.json"}},
		"metrics { directory = \"/run/m\" }":    {Timeout: 5 * time.Second, Metrics: &block.MetricsSink{Directory: "/run/m"}},
		"console {}":                            {Timeout: 5 * time.Second, Console: &block.ConsoleSink{Device: "/dev/console"}},
		"hyperv_kvp { key = \"STATE\" }":        {Timeout: 5 * time.Second, KVP: &block.KVPSink{Pool: "/var/lib/hyperv/.kvp_pool_1", Key: "STATE"}},
		"console { device = \"/dev/ttyS0\" }\n": {Timeout: 5 * time.Second, Console: &block.ConsoleSink{Device: "/dev/ttyS0"}},
	} {
		args := blocktest.Args(t, statussink.Type(), body)
		step, diags := statussink.Type().New(args)
		if diags.HasErrors() {
			t.Errorf("%s: %v", body, diags)
			continue
		}
		want.Label = args.Label
		if d := cmp.Diff(want, step.(block.Telling).Tells()); d != "" {
			t.Errorf("%s:\n%s", body, d)
		}
	}
}

// TestHole: a token that is not stored is a token.
func TestHole(t *testing.T) {
	args := blocktest.Args(t, statussink.Type(), strings.Replace(kubernetes, "token = \"t\"", "", 1))
	args.Holes = map[string]block.Hole{"kubernetes[0].token": {Keyed: "keyed:1", Vars: []string{"t"}}}
	step, diags := statussink.Type().New(args)
	if diags.HasErrors() || step.(block.Telling).Tells().Kubernetes.Token != "" {
		t.Errorf("%v, %v", step, diags)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"":                             "Write exactly one of the blocks webhook, kubernetes, file, console, hyperv_kvp, metrics; 0 are written.",
		webhook + "\nconsole {}":       "2 are written",
		"timeout = \"0s\"\nconsole {}": "Within no time nobody can be told",
		strings.Replace(webhook, "https", "http", 1):                                                      "write an https:// URL",
		strings.Replace(webhook, "url", "token = \"a\"\n url", 1):                                         "not both",
		strings.Replace(webhook, "url", "ca_certificate = \"a\"\n ca_certificate_file = \"/a\"\n url", 1): "not both",
		strings.Replace(kubernetes, "token = \"t\"", "", 1):                                               "write token or token_file",
	} {
		_, diags := statussink.Type().New(blocktest.Args(t, statussink.Type(), body))
		if !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v", body, diags)
		}
	}
}

// TestGrammar: what arguments may be.
func TestGrammar(t *testing.T) {
	attr := func(kind, name string) block.Attr {
		for _, n := range statussink.Type().Schema.Blocks {
			for _, a := range n.Schema.Attrs {
				if n.Name == kind && a.Name == name {
					return a
				}
			}
		}
		t.Fatalf("no %s.%s", kind, name)
		return block.Attr{}
	}
	for _, c := range []struct{ kind, name, good, bad string }{
		{"file", "path", "/run/a/b.json", "/var/lib/a.json"},
		{"file", "path", "/run/a", "/run/../etc/a"},
		{"metrics", "directory", "/run/m", "/run"},
		{"metrics", "directory", "/run/hostler-status", "/run/hostler"},
		{"file", "path", "/run/hostler.json", "/run/hostler/lock"},
		{"kubernetes", "object", "/apis/example.com/v1/machines/w1", "/api/v1/nodes"},
		{"kubernetes", "object", "/api/v1/nodes/w1", "/api/v1/nodes/w1?x"},
		{"kubernetes", "condition", "example.com/HostReady", "Host Ready"},
		{"kubernetes", "create", `{"apiVersion":"v1","kind":"Node"}`, `{"kind":"Node"}`},
		{"hyperv_kvp", "key", "hostler", strings.Repeat("k", 255)},
	} {
		a := attr(c.kind, c.name)
		if err := a.Check(text(c.good)); err != nil {
			t.Errorf("%s: %v", c.good, err)
		}
		if err := a.Check(text(c.bad)); err == nil || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("%s: %v", c.bad, err)
		}
	}
}
