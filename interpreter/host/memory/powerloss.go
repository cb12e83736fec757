package memory

import (
	"maps"
	"slices"
)

// losePower puts the disk in one of the states that a power loss may leave.
// choose is asked first how many steps of the journal were written, then for
// each file with data that is not durable what became of it; 0 is always the
// answer that loses most.
func (d *disk) losePower(choose func(n int) int) {
	written := choose(len(d.journal) + 1)
	shrunk := map[*inode]bool{}
	for i, o := range d.journal {
		if i < written {
			o.commit()
		} else if o.node != nil && o.size != keepSize {
			shrunk[o.node] = true
		}
	}
	kept := d.reachable()
	for _, n := range d.dirty {
		// Data after a truncation is written after the truncation is.
		if kept[n] && !shrunk[n] {
			n.chooseData(choose)
		}
	}
	d.reload(kept)
}

// chooseData decides what became of data that was never synced: lost, written
// in part, or written.
func (n *inode) chooseData(choose func(n int) int) {
	ways := 2
	if len(n.data) > 1 {
		ways = 3
	}
	switch answer := choose(ways); {
	case answer == ways-1:
		n.stable.data = n.data
	case answer == 1:
		half := len(n.data) / 2
		torn := slices.Clone(n.data[:half])
		if len(n.stable.data) > half {
			torn = append(torn, n.stable.data[half:]...)
		}
		n.stable.data = torn
	}
}

// reachable are the inodes that have a durable name.
func (d *disk) reachable() map[*inode]bool {
	kept := map[*inode]bool{d.root: true}
	for todo := []*inode{d.root}; len(todo) > 0; {
		n := todo[0]
		todo = todo[1:]
		for _, child := range n.stable.entries {
			if !kept[child] {
				kept[child] = true
				todo = append(todo, child)
			}
		}
	}
	return kept
}

// reload reads the disk as it is after a power loss.
func (d *disk) reload(kept map[*inode]bool) {
	d.journal, d.dirty, d.used = nil, nil, 0
	for n := range kept {
		n.attr, n.data, n.dirty, n.opens, n.nlink = n.stable.attr, n.stable.data, false, 0, 0
		n.entries = maps.Clone(n.stable.entries)
		d.used += pages(int64(len(n.data)))
	}
	d.root.nlink = 1
	for n := range kept {
		for _, child := range n.entries {
			child.nlink++
		}
	}
}

// EveryChoice runs a scenario once for every sequence of answers that its
// calls of choose can get, so that a test sees every state a power loss can
// leave. The scenario must be repeatable: the same answers must lead to the
// same questions.
func EveryChoice(scenario func(choose func(n int) int)) {
	type question struct{ answer, ways int }
	var path []question
	for {
		asked := 0
		scenario(func(n int) int {
			if asked == len(path) {
				path = append(path, question{0, max(n, 1)})
			}
			asked++
			return path[asked-1].answer
		})
		path = path[:asked]
		for len(path) > 0 && path[len(path)-1].answer == path[len(path)-1].ways-1 {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return
		}
		path[len(path)-1].answer++
	}
}

// LoseMost answers every question of a power loss with the loss of everything
// that was not synced.
func LoseMost(int) int { return 0 }

// KeepMost answers every question of a power loss as if all that was not
// synced had been written just in time.
func KeepMost(n int) int { return n - 1 }
