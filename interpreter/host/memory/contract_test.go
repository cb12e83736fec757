package memory_test

import (
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/memory"
)

func TestContractLive(t *testing.T) {
	hosttest.Run(t, hosttest.Maker{
		Traits: hosttest.Traits{Live: true, Privileged: true, Special: true},
		New:    func(*testing.T) host.Host { return memory.New(memory.Options{}).Host() },
	})
}

func TestContractAtRest(t *testing.T) {
	hosttest.Run(t, hosttest.Maker{
		Traits: hosttest.Traits{Privileged: true, Special: true},
		New:    func(*testing.T) host.Host { return memory.New(memory.Options{Offline: true}).Host() },
	})
}

// The inside of a machine is a host like any other.
func TestContractInsideMachine(t *testing.T) {
	inside := func(t *testing.T) host.Host {
		m := memory.New(memory.Options{Machines: []memory.Machine{{Name: "kube1", Running: true}}})
		h, err := m.Host().Machines.Host(t.Context(), "kube1")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	hosttest.Files(t, func(t *testing.T) host.Files { return inside(t).Files })
	hosttest.Units(t, inside)
	hosttest.Locks(t, func(t *testing.T) host.Locks { return inside(t).Locks })
}
