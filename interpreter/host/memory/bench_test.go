package memory_test

import (
	"testing"

	"hostler/interpreter/host/memory"
)

// A host is cheap enough to make one for every point of a scenario.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		memory.New(memory.Options{Machines: []memory.Machine{{Name: "kube1", Running: true}}})
	}
}
