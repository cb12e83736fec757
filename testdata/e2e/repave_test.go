//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// node is a host with the recipe whose machine has two slots.
type node struct {
	*site
	path string
	// clean is what the host's configuration was before.
	clean map[string]lab.Entry
	took  time.Duration // of a repave
}

func newNode(t *testing.T, options lab.Options) *node {
	n := &node{site: settle(t, options)}
	n.PushTree(imageDir, smallMachine(t))
	n.path = n.recipe("recipes/slots")
	n.clean = n.config()
	return n
}

// args are the arguments of a command for a release.
func (n *node) args(verb, release string, more ...string) []string {
	return append([]string{verb, n.path, "--var", "image=oci-layout:" + imageDir, "--var", "release=" + release}, more...)
}

// serves fails the test unless exactly one machine runs, in that slot, of that
// release, with its service up, and nothing of the other slot is there.
func (n *node) serves(when, slot, release string) {
	n.t.Helper()
	other := map[string]string{"node1": "node2", "node2": "node1"}[slot]
	if got := n.sh("machinectl list --no-legend | cut -d' ' -f1"); got != slot {
		n.t.Fatalf("%s: registered is %q, want %s", when, got, slot)
	}
	n.holds(when, fmt.Sprintf("nsenter --target %[4]s --all systemctl is-active serving.service; test -S /proc/%[4]s/root/run/served; "+
		"grep -qx '%[2]s in %[1]s' /var/lib/machines/%[1]s/etc/release; grep -qx %[2]s /etc/node-release; "+
		"systemctl is-enabled systemd-nspawn@%[1]s.service; ! systemctl is-enabled systemd-nspawn@%[3]s.service; "+
		"! test -e /var/lib/machines/%[3]s; ! test -e /var/lib/machines/.hostler/%[3]s.json; ! test -e /var/lib/machines/.hostler/%[3]s.new; "+
		"! systemctl is-failed systemd-nspawn@%[3]s.service", slot, release, other, n.machineLeader(slot)))
	if rec := n.record(); rec.Phase != "complete" || rec.Machines["nspawn_machine.node"].Active != slot || len(rec.Repave) > 0 || rec.Target != rec.Applied {
		n.t.Errorf("%s: record %+v", when, rec)
	}
}

// back waits until a machine has come back by itself.
func (n *node) back(slot string) {
	n.t.Helper()
	n.eventually(slot+" is back by itself", func() bool {
		leader := n.machineLeader(slot)
		return leader != "" && n.Exec("nsenter", "--target", leader, "--all", "systemctl", "is-active", "serving.service").Code == 0
	})
}

// nodeRecord is what of the record is looked at.
type nodeRecord struct {
	Phase, Fingerprint, Applied, Target string
	Superseded                          []string `json:"superseded_fingerprints"`
	Repave                              json.RawMessage
	Machines                            map[string]struct{ Active, Image, Digest string }
}

func (n *node) record() (rec nodeRecord) {
	n.t.Helper()
	if err := json.Unmarshal(n.Pull("/var/lib/hostler/record.json"), &rec); err != nil {
		n.t.Fatal(err)
	}
	return rec
}

// gone resets and fails the test when anything of either slot is left.
func (n *node) gone(when string) {
	n.t.Helper()
	n.must("reset")
	n.holds(when+", and a reset", `test -z "$(machinectl list --no-legend)"; ! test -e /var/lib/machines/node1; ! test -e /var/lib/machines/node2; `+
		"! test -e /var/lib/machines/.hostler; ! test -e /var/lib/hostler; ! test -e /run/hostler/machines; "+
		`test -z "$(systemctl list-units --all --no-legend 'systemd-nspawn@*' | grep -v inactive)"`)
	n.MustExec("rm", "-rf", "/run/stopped")
	if changes := lab.Changes(n.clean, n.config()); len(changes) > 0 {
		n.t.Errorf("%s, and a reset, left on the host:\n%s", when, strings.Join(changes, "\n"))
	}
}

// TestRepave moves a real machine between its slots.
func TestRepave(t *testing.T) {
	t.Parallel()
	n := newNode(t, lab.Options{})
	for _, part := range []struct {
		name string
		run  func(*node)
	}{
		{"moves", repaveMoves}, {"fails", repaveFails}, {"confirmed", repaveConfirmed}, {"not confirmed", repaveExpires}, {"killed", repaveKilled},
	} {
		t.Run(part.name, func(t *testing.T) {
			here, s := *n, *n.site
			s.t = t
			here.site = &s
			part.run(&here)
			here.gone(part.name)
		})
	}
}

// TestRepaveGuide does what docs/guides/repave.md says, line by line.
func TestRepaveGuide(t *testing.T) {
	t.Parallel()
	h := up(t, lab.Options{})
	h.PushTree(imageDir, smallMachine(t))
	follow(t, h, "repave.md", "/srv/node/recipe.hcl")
}

// repaveMoves: H23, R078 to R084, R096: the machine is in the other slot with
// its service up, and stays there; the identity went with it.
func repaveMoves(n *node) {
	n.must(n.args("apply", "1")...)
	n.serves("after apply", "node1", "1")
	first := n.record()
	if o := n.hostler(n.args("apply", "2")...); o.Code != 73 {
		n.t.Errorf("apply of another identity: %s", o)
	}
	n.must(n.args("repave", "2")...)
	n.serves("after repave", "node2", "2")
	moved := n.record()
	if moved.Fingerprint == first.Fingerprint || len(moved.Superseded) != 1 || moved.Superseded[0] != first.Fingerprint {
		n.t.Errorf("record %+v", moved)
	}
	n.holds("after it has stopped", "test -d /run/stopped/node1; ! test -e /run/stopped/node2")
	leader := n.machineLeader("node2")
	n.wantChanged(n.must("ensure"))
	n.wantChanged(n.must(n.args("apply", "2")...))
	if now := n.machineLeader("node2"); now != leader {
		n.t.Errorf("the machine was started again: leader %s, was %s", now, leader)
	}
	n.Reboot()
	n.back("node2")
	n.must("ensure")
	n.serves("after a reboot", "node2", "2")
	n.must("repave")
	n.serves("after another repave", "node1", "2")
}

// repaveFails: a new machine that does not become ready goes, and the old one
// runs again, without anybody doing anything.
func repaveFails(n *node) {
	n.must(n.args("apply", "1")...)
	before := n.record()
	o := n.hostler(n.args("repave", "2", "--var", "ready=/run/never")...)
	if o.Code != 1 || !strings.Contains(o.last().Error, "the host is back at what was applied") || !strings.Contains(o.last().Error, "file /run/never is not there") {
		n.t.Errorf("repave: %s", o)
	}
	n.serves("after a repave that failed", "node1", "1")
	if now := n.record(); now.Fingerprint != before.Fingerprint || now.Applied != before.Applied || len(now.Superseded) > 0 {
		n.t.Errorf("record %+v", now)
	}
	n.wantChanged(n.must("ensure"))
	n.wantChanged(n.must(n.args("apply", "1")...))
}

// repaveConfirmed: the command waits and holds no lock; a reboot in between
// changes nothing about what is waited for.
func repaveConfirmed(n *node) {
	n.must(n.args("apply", "1")...)
	n.MustExec(append([]string{"systemd-run", "--quiet", "--unit=waiting", program}, n.args("repave", "2", "--confirm-within", "5m", "--wait", "1m")...)...)
	waits := func() bool {
		status, _ := document[statusDoc](n.site, "status")
		return len(status.Pending) == 1 && status.Pending[0].Needs == "confirmation"
	}
	n.eventually("it waits for its confirmation", waits)
	n.holds("while it waits", "systemctl is-active waiting.service")
	if o := n.hostler(n.args("apply", "1")...); o.Code != 73 {
		n.t.Errorf("an apply meanwhile: %s", o)
	}
	n.Reboot()
	n.back("node2")
	n.must("ensure")
	if !waits() {
		n.t.Error("it does not wait any more after a reboot")
	}
	n.must("repave", "--confirm")
	n.serves("after the confirmation", "node2", "2")
	if o := n.hostler("repave", "--confirm"); o.Code != 73 {
		n.t.Errorf("confirmed twice: %s", o)
	}
}

// repaveExpires: without a confirmation the command itself goes back, and so
// does an ensure when the command is gone.
func repaveExpires(n *node) {
	n.must(n.args("apply", "1")...)
	o := n.hostler(n.args("repave", "2", "--confirm-within", "2s")...)
	if o.Code != 1 || !strings.Contains(o.last().Error, "it was not confirmed by") || !strings.Contains(o.warnings(), "Waiting for confirmation") {
		n.t.Errorf("repave: %s", o)
	}
	n.serves("when its time was over", "node1", "1")
	res := n.Exec(append([]string{"timeout", "--foreground", "--signal=KILL", "60", program}, n.args("repave", "2", "--confirm-within", "1s", "--quiet")...)...)
	if res.Code != 1 {
		n.t.Errorf("repave: %s", res)
	}
	n.serves("the second time", "node1", "1")
}

// How many repaves are killed, and lose their power.
const (
	killedRepaves = 8
	darkRepaves   = 5
)

// moment is one in the i-th of so many parts of a run.
func moment(r *rand.Rand, i, parts int, took time.Duration) time.Duration {
	return time.Duration((float64(i) + r.Float64()) / float64(parts) * 1.05 * float64(took))
}

// repaveKilled: whenever it is killed, the host goes back or the move is made,
// and a second one gets there.
func repaveKilled(n *node) {
	n.must(n.args("apply", "1")...)
	began := time.Now()
	n.must(n.args("repave", "2")...)
	n.took = time.Since(began)
	slot, release := "node2", 2
	for i := range killedRepaves {
		r := random(*firstSeed + 4000 + i)
		seconds := fmt.Sprintf("%.3f", moment(r, i, killedRepaves, n.took).Seconds())
		other := map[string]string{"node1": "node2", "node2": "node1"}[slot]
		next := fmt.Sprint(release + 1)
		res := n.Exec(append([]string{"timeout", "--foreground", "--signal=KILL", seconds, program}, n.args("repave", next, "--quiet")...)...)
		when := fmt.Sprintf("seed %d: killed after %s s (%d)", *firstSeed+4000+i, seconds, res.Code)
		n.t.Log(when)
		n.must("ensure")
		if n.record().Machines["nspawn_machine.node"].Active == slot {
			n.serves(when, slot, fmt.Sprint(release))
			n.must(n.args("repave", next)...)
		}
		n.serves(when+", in the end", other, next)
		slot, release = other, release+1
	}
}

// TestRepavePowerLoss takes the power in mid-repave: after the boot and an
// ensure the host is at one of the two, whole.
func TestRepavePowerLoss(t *testing.T) {
	t.Parallel()
	n := newNode(t, lab.Options{Store: lab.DiskXFS})
	n.must(n.args("apply", "1")...)
	began := time.Now()
	n.must(n.args("repave", "2")...)
	n.took = time.Since(began)
	slot, release := "node2", 2
	s := &subject{Host: n.Host, t: t}
	for i := range darkRepaves {
		r := random(*firstSeed + 5000 + i)
		delay := moment(r, i, darkRepaves, n.took)
		other := map[string]string{"node1": "node2", "node2": "node1"}[slot]
		next := fmt.Sprint(release + 1)
		n.MustExec("sync")
		ctx, cancel := context.WithCancel(context.Background())
		ended := s.begin(ctx, append([]string{program}, n.args("repave", next, "--quiet")...))
		select {
		case <-time.After(delay):
		case <-ended:
		}
		n.PowerLoss(lab.Plain)
		<-ended
		cancel()
		n.Boot()
		when := fmt.Sprintf("seed %d: power lost after %s", *firstSeed+5000+i, delay)
		t.Log(when)
		n.must("ensure")
		if n.record().Machines["nspawn_machine.node"].Active == slot {
			n.serves(when, slot, fmt.Sprint(release))
			n.must(n.args("repave", next)...)
		}
		n.serves(when+", in the end", other, next)
		slot, release = other, release+1
	}
	n.gone("after power losses")
}
