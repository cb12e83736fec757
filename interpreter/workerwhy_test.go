package interpreter_test

import (
	"context"
	"strings"
	"testing"

	"hostler/interpreter/operate"
)

// TestWhyOfWorker: of every path and unit that a worker owns, why knows the step,
// where it is written, and the run that made it.
func TestWhyOfWorker(t *testing.T) {
	r := workerRig(t, aclWorker)
	in := r.Interpreter()
	in.Attend = operate.Attend(r.Host(), "0.1.0")
	_, err := in.Apply(context.Background(), r.request(worker(aclWorker, `registry_mirrors={ "_default" = ["https://mirror.example.com"] }`)))
	r.ok(err)
	asked := 0
	ask := func(question, thing string, made bool) {
		t.Helper()
		asked++
		why, err := operate.Ask(context.Background(), r.Interpreter(), question)
		r.ok(err)
		for _, o := range why.Owners {
			written := o.Step == "" && strings.Contains(thing, "dir:") || o.Line > 0 && strings.HasSuffix(o.Filename, "recipe.hcl")
			if o.Thing == thing && written && (!made || len(o.Changes) > 0) {
				return
			}
		}
		t.Errorf("%s, for %s: %+v", question, thing, why.Owners)
	}
	for _, c := range r.record().Claims {
		thing := string(c.Thing)
		_, key := c.Thing.Machine()
		made := c.Step != nil && key.Kind() == "path" && !strings.Contains(thing, "/bin/hostler-") // of which one slot is empty
		question := thing
		switch {
		case strings.HasPrefix(key.Kind(), "unit-"):
			question = strings.Replace(thing, key.Kind()+":", "unit:", 1)
		case strings.HasPrefix(thing, "path:"):
			question = key.Name()
		}
		ask(question, thing, made)
	}
	for link, thing := range map[string]string{
		"/etc/systemd/system/docker.service":                                                  "unit-enabled:docker.service",
		"/etc/systemd/system/systemd-nspawn@kube1.service.requires/hostler-nft-flush.service": "unit-enabled:hostler-nft-flush.service",
		"machine:kube1/path:/etc/systemd/system/multi-user.target.wants/kubelet.service":      "machine:kube1/unit-enabled:kubelet.service",
		inside + "/etc/systemd/system/multi-user.target.wants/containerd.service":             "machine:kube1/unit-enabled:containerd.service",
		inside + "/etc/systemd/system/systemd-resolved.service":                               "machine:kube1/unit-enabled:systemd-resolved.service",
	} {
		ask(link, thing, true)
	}
	if asked < 100 {
		t.Errorf("only %d questions", asked)
	}
}
