package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
)

// TestC43RecordNamesAnUnknownMachine: a record that names a machine which is
// none of its own is damaged, and never the reason for a new machine.
func TestC43RecordNamesAnUnknownMachine(t *testing.T) {
	ctx := context.Background()
	for active, damaged := range map[string]bool{"kube1": false, "kube2": false, "kube9": true} {
		store, _, _ := newStore(t)
		r := sample()
		r.Claims = append(r.Claims, record.Claim{Thing: "machine:kube1"}, record.Claim{Thing: "machine:kube2"})
		r.Machines = map[string]block.Built{"nspawn_machine.kube": {Active: active}}
		if err := store.Save(ctx, r); err != nil {
			t.Fatal(err)
		}
		_, err := store.Load(ctx)
		_, is := errors.AsType[*record.UnreadableError](err)
		if is != damaged || damaged && !strings.Contains(err.Error(), `"kube9" of nspawn_machine.kube`) {
			t.Errorf("active %s: %v", active, err)
		}
	}
}

// TestDroppedMachineIsForgotten: what a machine was built from goes with its
// claim.
func TestDroppedMachineIsForgotten(t *testing.T) {
	r := sample()
	r.Claims = append(r.Claims, record.Claim{Thing: "machine:a"}, record.Claim{Thing: "machine:b"})
	r.Machines = map[string]block.Built{"nspawn_machine.a": {Active: "a"}, "nspawn_machine.b": {Active: "b"}}
	r.Drop("machine:a", "path:/etc/x")
	if len(r.Machines) != 1 || r.Machines["nspawn_machine.b"].Active != "b" || len(r.Claims) != 1 {
		t.Errorf("left are %+v and %+v", r.Machines, r.Claims)
	}
}
