package statussink

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// nested are the kinds of sinks.
func nested() []block.Nested {
	kind := func(name, doc string, attrs ...block.Attr) block.Nested {
		return block.Nested{Name: name, Doc: doc, Max: 1, Schema: block.Schema{Attrs: attrs}}
	}
	return []block.Nested{
		kind("webhook", "An HTTP server that gets each status as a JSON document by POST.",
			append([]block.Attr{block.URL("url").Must().Says("Where it is sent.")}, access()...)...),
		kind("kubernetes", "A condition in the status of a Kubernetes object: `True` when the run ended well, `False` when it failed and after a reset, `Unknown` while it runs.",
			append([]block.Attr{
				block.URL("server").Must().Says("The API server, for example `\"https://api.example:6443\"`."),
				checked("object", "path of an object", checkObject).Must().Says("The object's path on the server, for example `\"/api/v1/nodes/worker-1\"`."),
				checked("condition", "condition type", checkCondition).Must().Says("The type of the condition, for example `\"HostReady\"`."),
				checked("create", "JSON object", checkManifest).Says("The object as JSON, made when it is not there, for example with `jsonencode`. Without it, one that is not there yet is waited for, within `timeout`."),
			}, access()...)...),
		kind("file", "A file that holds the last status as a JSON document, readable by all.",
			checked("path", "path below /run", checkVolatile).Must().Says("The file, below `/run`: a status is no part of an installation and ends with the boot.")),
		kind("console", "A terminal that gets one line when a run begins, fails or has changed something.",
			withDefault(block.AbsPath("device"), "/dev/console").Says("The terminal.")),
		kind("hyperv_kvp", "A key of the pool that Hyper-V and Azure read from the guest, so that a first boot without a shell is not silent.",
			withDefault(block.AbsPath("pool"), "/var/lib/hyperv/.kvp_pool_1").Says("The pool. It is never made: where it is not, nothing reads it."),
			withDefault(checked("key", "key", checkKey), "hostler").Says("The key.")),
		kind("metrics", "Metrics in Prometheus text format for a textfile collector, as `hostler.prom`.",
			checked("directory", "path below /run", checkVolatile).Must().Says("The directory, below `/run`. Let the collector read it, or a `symlink` to the file in its own directory.")),
	}
}

func names() (all []string) {
	for _, n := range nested() {
		all = append(all, n.Name)
	}
	return all
}

// access are the arguments of sinks that ask a server.
func access() []block.Attr {
	return []block.Attr{
		block.Text("token").MaySecret().Says("A bearer token. It may be sensitive."),
		block.AbsPath("token_file").Says("A file with the bearer token, read when it is needed: until an earlier step has written it, the sink waits."),
		block.Text("ca_certificate").Says("Certificates in PEM that are trusted instead of the system's."),
		block.AbsPath("ca_certificate_file").Says("A file with such certificates."),
	}
}

func withDefault(a block.Attr, def string) block.Attr {
	a.Default = cty.StringVal(def)
	return a
}

func checked(name, grammar string, check func(string) error) block.Attr {
	a := block.Text(name)
	nul := a.Check
	a.Grammar, a.Check = grammar, func(v cty.Value) error {
		if err := nul(v); err != nil {
			return err
		}
		return check(v.AsString())
	}
	return a
}

// ownRun is where hostler keeps what ends with the boot.
const ownRun = "/run/hostler"

func checkVolatile(s string) error {
	if err := block.CheckPath(s); err != nil {
		return err
	}
	if !strings.HasPrefix(s, "/run/") {
		return block.Advicef("%q is not below /run; write for example \"/run/hostler-status/%s\".", s, path.Base(s))
	}
	if s == ownRun || strings.HasPrefix(s, ownRun+"/") {
		return block.Advicef("%s is hostler's own, where its lock is; write for example \"/run/hostler-status/%s\".", ownRun, path.Base(s))
	}
	return nil
}

func checkObject(s string) error {
	if u, err := url.Parse(s); err != nil || u.Path != s || !strings.HasPrefix(s, "/api") || path.Clean(s) != s || strings.Count(s, "/") < 4 {
		return block.Advicef("%q is no path of an object; write one such as \"/api/v1/nodes/worker-1\".", s)
	}
	return nil
}

var conditionName = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

func checkCondition(s string) error {
	if len(s) > 316 || !conditionName.MatchString(s) {
		return block.Advicef("%q is no condition type; write one such as \"HostReady\".", s)
	}
	return nil
}

func checkManifest(s string) error {
	var object map[string]any
	if err := json.Unmarshal([]byte(s), &object); err != nil || object["kind"] == nil || object["apiVersion"] == nil {
		return block.Advicef("This is no object: write it with jsonencode({ apiVersion = …, kind = …, metadata = { name = … } }).")
	}
	return nil
}

// maxKey is what Azure reads of a key, in bytes.
const maxKey = 254

func checkKey(s string) error {
	if s == "" || len(s) > maxKey {
		return block.Advicef("A key has 1 to %d bytes.", maxKey)
	}
	return nil
}

// reading reads the arguments of one kind.
type reading struct {
	block.Args
	at     string
	value  cty.Value
	faults hcl.Diagnostics
}

func (a *reading) text(name string) string {
	if v := a.value.GetAttr(name); !v.IsNull() {
		return v.AsString()
	}
	return ""
}

func (a *reading) fault(name, summary, detail string) {
	a.faults = append(a.faults, a.Fault(a.at+"."+name, summary, detail))
}

func (a *reading) kind(name string, s *block.Sink) {
	switch name {
	case "webhook":
		s.Webhook = &block.WebhookSink{URL: a.text("url"), SinkAccess: a.access("url")}
	case "kubernetes":
		s.Kubernetes = &block.KubernetesSink{
			Server: strings.TrimSuffix(a.text("server"), "/"), Object: a.text("object"), Condition: a.text("condition"), Create: a.text("create"),
			SinkAccess: a.access("server"),
		}
		if !a.hasToken() {
			a.fault("server", "No token", "An API server wants to know who asks; write token or token_file.")
		}
	case "file":
		s.File = &block.FileSink{Path: a.text("path")}
	case "console":
		s.Console = &block.ConsoleSink{Device: a.text("device")}
	case "hyperv_kvp":
		s.KVP = &block.KVPSink{Pool: a.text("pool"), Key: a.text("key")}
	case "metrics":
		s.Metrics = &block.MetricsSink{Directory: a.text("directory")}
	}
}

// hasToken says whether a token is written; a value that is not stored is a
// hole.
func (a *reading) hasToken() bool {
	_, hole := a.Holes[a.at+".token"]
	return hole || a.text("token") != "" || a.text("token_file") != ""
}

// access reads what a server is asked with; address names its URL.
func (a *reading) access(address string) block.SinkAccess {
	s := block.SinkAccess{Token: a.text("token"), TokenFile: a.text("token_file"), CA: a.text("ca_certificate"), CAFile: a.text("ca_certificate_file")}
	if s.Token != "" && s.TokenFile != "" {
		a.fault("token_file", "Two tokens", "Write token or token_file, not both.")
	}
	if s.CA != "" && s.CAFile != "" {
		a.fault("ca_certificate_file", "Two authorities", "Write ca_certificate or ca_certificate_file, not both.")
	}
	if a.hasToken() && strings.HasPrefix(a.text(address), "http:") {
		a.fault(address, "Token in the clear", "Who listens on the way would read the token; write an https:// URL.")
	}
	return s
}
