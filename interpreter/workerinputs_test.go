package interpreter_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/recipes"
)

// TestWorkerInputs: a value that cannot be meant is refused with what to write
// instead.
func TestWorkerInputs(t *testing.T) {
	for given, want := range map[string]string{
		"kubernetes_version=latest":                     "three numbers, such as \"1.34.4\"",
		"kubernetes_version=1.26.1":                     "not one older than 1.27",
		"api_server=http://api.example.com":             "nothing but https",
		"api_server=https://api.example.com/path":       "host and port",
		"ca_certificate=nothing":                        "-----BEGIN CERTIFICATE-----",
		"cluster_dns=kube-dns":                          "IP address of the service kube-dns",
		"bootstrap_token=0123456789abcdef":              "six letters or digits, a dot",
		"node_name=Worker_1":                            "letters in lower case",
		"node_ip=here":                                  "Give an IP address",
		`labels={ "a b" = "c" }`:                        "A label is",
		`labels={ a = "b,c=d" }`:                        "A label is",
		`taints=["a=b:Never"]`:                          "NoSchedule, PreferNoSchedule or NoExecute",
		"cgroup_driver=none":                            "\"systemd\" or \"cgroupfs\"",
		"machines=[]":                                   "at least one machine",
		`mounts=[{ source = "srv" }]`:                   "absolute paths",
		`mounts=[{ source = "/a b" }]`:                  "absolute paths",
		`exec_credential={ command = "login" }`:         "absolute path inside the machine",
		`registry_mirrors={ "docker.io" = ["mirror"] }`: "Write mirrors as URLs",
		`programs={ cni = { plugins = ["bridge"] } }`:   "bridge, host-local and loopback",
		`programs={ runc = { digest = "x" } }`:          "digest",
		`status={ webhok = {} }`:                        "Did you mean \"webhook\"",
		`nspawn={ exec = { PrivateUsers = "no" } }`:     "list of string",
	} {
		_, diags := workerInputs(t, given)
		var all strings.Builder
		for _, d := range diags {
			all.WriteString(d.Summary + ": " + d.Detail + "\n")
		}
		if !diags.HasErrors() || !strings.Contains(all.String(), want) {
			t.Errorf("%s: %s, want %q", given, all.String(), want)
		}
		if strings.Contains(all.String(), "0123456789abcdef") {
			t.Errorf("the token is told: %s", all.String())
		}
	}
	if _, diags := workerInputs(t, "node_ip=192.0.2.1,2001:db8::1"); diags.HasErrors() {
		t.Error(diags)
	}
}

// workerInputs gives a worker its least values and another one.
func workerInputs(t *testing.T, more string) (eval.Inputs, hcl.Diagnostics) {
	r := newRig(t, memory.Options{})
	g := worker(debianWorker, more)
	recipe := g.open(r).Recipe
	var given []eval.Given
	for _, v := range g.vars {
		name, value, _ := strings.Cut(v, "=")
		given = append(given, eval.Given{Strength: eval.FromFlag, Name: name, Text: []byte(value)})
	}
	return recipe.Inputs(given)
}

// TestC63NamesComeLate: while names do not resolve, the run ends before it has
// changed anything, says which address, and the next one goes on; a complete
// host asks for nothing.
func TestC63NamesComeLate(t *testing.T) {
	var network map[string]http.Handler
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		network = o.Network.HTTP
		o.Network.HTTP = map[string]http.Handler{}
		for name, handler := range network {
			o.Network.HTTP[name] = handler
		}
		network = o.Network.HTTP
	})
	api := network["api.example.com:6443"]
	delete(network, "api.example.com:6443")
	for range 3 { // as the boot unit tries again
		fails[*interpreter.UnmetError](r, ensure, worker(aclWorker), "https://api.example.com:6443/readyz does not answer", "name resolution")
		r.same(r.Before)
	}
	network["api.example.com:6443"] = api
	r.must(ensure, worker(aclWorker))
	clear(network)
	r.must(ensure, nothing)
	r.must(ensure, worker(aclWorker))
	if r.record().Phase != record.Complete {
		t.Error(r.record().Phase)
	}
}

// TestC65ServerNotWellYet: a server that is not well yet is asked again; what it
// does not have is said at once, with its address, and the next run goes on.
func TestC65ServerNotWellYet(t *testing.T) {
	var asked atomic.Int32
	ill := func(first func(w http.ResponseWriter)) func(*memory.Options) {
		asked.Store(0)
		return func(o *memory.Options) {
			serve := o.Network.HTTP["dl.k8s.io"]
			o.Network.HTTP["dl.k8s.io"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/kubectl") && asked.Add(1) <= 2 {
					first(w)
					return
				}
				serve.ServeHTTP(w, r)
			})
		}
	}
	r := workerRig(t, aclWorker, ill(func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }))
	r.must(apply, worker(aclWorker))
	r.want(inside+"/usr/local/bin/kubectl", "kubectl")
	r = workerRig(t, aclWorker, ill(func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }))
	for _, do := range []verb{apply, ensure} {
		_, err := r.run(do, worker(aclWorker))
		if err == nil || !strings.Contains(err.Error(), "https://dl.k8s.io/v1.34.4/bin/linux/amd64/kubectl") || !strings.Contains(err.Error(), "404") {
			t.Errorf("error %v", err)
		}
	}
	r.must(ensure, worker(aclWorker))
}

// TestC66OldRecipeAtBoot: the boot unit still names the recipe and inputs of the
// first boot; what was applied since stays.
func TestC66OldRecipeAtBoot(t *testing.T) {
	r := workerRig(t, aclWorker)
	first, second := worker(aclWorker), worker(aclWorker, `labels={ pool = "b" }`)
	r.must(ensure, first)
	r.must(apply, second)
	r.PowerLoss(memory.KeepMost)
	r.must(ensure, first)
	r.holds(inside+"/etc/systemd/system/kubelet.service.d/20-node-config.conf", "pool=b")
	for _, do := range []verb{ensure, ensure} {
		r.must(do, first)
		r.list(r.Effects())
	}
	var refused *record.RefusedError
	if _, err := r.run(apply, worker(aclWorker, "kubernetes_version=1.33.0")); !errors.As(err, &refused) {
		t.Errorf("an older cluster's recipe: %v", err)
	}
}

// TestWorkersShareVariables: what the recipes per image take is what the shared
// one does, and they hand all of it on.
func TestWorkersShareVariables(t *testing.T) {
	r := newRig(t, memory.Options{})
	src, err := recipes.Open("shared/kubernetes-worker")
	r.ok(err)
	shared := r.load(src, eval.StandardLoader{Shipped: recipes.Open}).Recipe.Variables()
	for _, dir := range workerDirs(t) {
		own := worker(dir).open(r).Recipe.Variables()
		if len(own) != len(shared) {
			t.Fatalf("%s has %d variables, the shared recipe %d", dir, len(own), len(shared))
		}
		for i, v := range own {
			if v.Name != shared[i].Name || v.TypeText != shared[i].TypeText || v.Description != shared[i].Description || v.Description == "" || v.Required != shared[i].Required || v.Sensitive != shared[i].Sensitive {
				t.Errorf("%s: the variable %s is another one than in the shared recipe", dir, v.Name)
			}
		}
	}
}
