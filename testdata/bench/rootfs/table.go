package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// median takes each figure's median by itself.
func median(runs []sample) sample {
	pick := func(of func(sample) int64) int64 {
		var all []int64
		for _, s := range runs {
			all = append(all, of(s))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return sample{
		wall: time.Duration(pick(func(s sample) int64 { return int64(s.wall) })),
		disk: time.Duration(pick(func(s sample) int64 { return int64(s.disk) })),
		cpu:  time.Duration(pick(func(s sample) int64 { return int64(s.cpu) })),
		peak: pick(func(s sample) int64 { return s.peak }),
	}
}

// best takes each figure's least.
func best(runs []sample) sample {
	least := runs[0]
	for _, s := range runs[1:] {
		least.wall, least.disk, least.cpu = min(least.wall, s.wall), min(least.disk, s.disk), min(least.cpu, s.cpu)
	}
	return least
}

func printTable(w io.Writer, img image, all []contender, runs map[string][]sample) {
	fmt.Fprintf(w, "\n%s: %d MB in %d entries, %d MB as stored, %d layer(s); medians of %d, load %s\n\n", img.name,
		img.bytes>>20, img.entries, img.stored>>20, len(img.layers), len(runs[all[0].name]), load())
	fmt.Fprintf(w, "| %-18s | wall    | best    | durable | CPU     | peak RSS | hostler to it: wall | best | durable | CPU  |\n", "")
	fmt.Fprintf(w, "|%s|---------|---------|---------|---------|----------|---------------------|------|---------|------|\n", strings.Repeat("-", 20))
	mine, measured := runs[ours().name]
	for _, c := range all {
		m, b := median(runs[c.name]), best(runs[c.name])
		fmt.Fprintf(w, "| %-18s | %5.2f s | %5.2f s | %5.2f s | %5.2f s | %5d MB |", c.name,
			m.wall.Seconds(), b.wall.Seconds(), m.disk.Seconds(), m.cpu.Seconds(), m.peak>>20)
		if measured {
			me := median(mine)
			fmt.Fprintf(w, " %19.2f | %4.2f | %7.2f | %4.2f |", ratio(me.wall, m.wall), ratio(best(mine).wall, b.wall),
				ratio(me.disk, m.disk), ratio(me.cpu, m.cpu))
		}
		fmt.Fprintln(w)
	}
	if measured {
		fmt.Fprintln(w)
		printVerdicts(w, all, runs)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// printVerdicts holds the medians against what is to be reached.
func printVerdicts(w io.Writer, all []contender, runs map[string][]sample) {
	me := median(runs[ours().name])
	for _, c := range all {
		if c.atMost == 0 {
			continue
		}
		r := ratio(me.wall, median(runs[c.name]).wall)
		fmt.Fprintf(w, "%s: at most %.2f of %s: %.2f\n", verdict(r <= c.atMost), c.atMost, c.name, r)
	}
	fmt.Fprintf(w, "%s: peak RSS below 150 MB: %d MB\n", verdict(me.peak < 150<<20), me.peak>>20)
}

func verdict(ok bool) string {
	if ok {
		return "reached"
	}
	return "MISSED"
}

// load is the machine's load average, which says how far to trust a run.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// printGrowth prints a table and a plot of wall time over bytes.
func printGrowth(w io.Writer, sizes []image, all []sample) {
	fmt.Fprintf(w, "\nGrowth of hostler (gzip, many small files)\n\n")
	fmt.Fprintf(w, "| MB      | entries | wall    | ms/MB | µs/entry | peak RSS |\n|---------|---------|---------|-------|----------|----------|\n")
	longest := all[len(all)-1].wall
	for i, img := range sizes {
		mb := float64(img.bytes) / (1 << 20)
		fmt.Fprintf(w, "| %7.0f | %7d | %5.2f s | %5.2f | %8.1f | %5d MB | %s\n", mb, img.entries, all[i].wall.Seconds(),
			float64(all[i].wall.Milliseconds())/mb, float64(all[i].wall.Microseconds())/float64(img.entries), all[i].peak>>20,
			strings.Repeat("▇", int(40*all[i].wall/longest)))
	}
}
