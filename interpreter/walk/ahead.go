package walk

import (
	"context"
	"sync"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// atOnce is how many steps are fetched for at the same time. Images fetch
// several layers at once by themselves.
const atOnce = 2

// ahead fetches what later steps need from the network while earlier ones run.
type ahead struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

// fetchAhead starts to fetch for the steps after p, once, at the first effect
// of a walk: a host on which nothing changes needs no network, and nothing is
// written before the record is.
func (w *walker) fetchAhead(p *block.Placed) {
	if !w.Ahead || w.fetching != nil || w.Shadow || !w.Host.Identity.Live {
		return
	}
	ctx, stop := context.WithCancel(w.whole) // a step's own timeout is not that of the others
	w.fetching = &ahead{stop: stop}
	jobs := w.fetches(ctx, p)
	queue := make(chan func(context.Context) error, len(jobs))
	for _, job := range jobs {
		queue <- job
	}
	close(queue)
	for range min(atOnce, len(jobs)) {
		w.fetching.done.Go(func() {
			for job := range queue {
				_ = job(ctx) // the step itself meets the fault, and says so
			}
		})
	}
}

// fetches are what the steps after p ask to have fetched.
func (w *walker) fetches(ctx context.Context, p *block.Placed) (jobs []func(context.Context) error) {
	after := false
	for i := range w.Desired {
		q := &w.Desired[i]
		step, able := q.Step.(block.Ahead)
		if after && able && q.Deferred == "" && len(q.NeedsInput) == 0 && q.Forward() {
			if job, err := step.Ahead(ctx, w.placeAhead(ctx, q)); err == nil && job != nil {
				jobs = append(jobs, job)
			}
		}
		after = after || q == p
	}
	return jobs
}

// placeAhead is place for a step whose turn has not come.
func (w *walker) placeAhead(ctx context.Context, p *block.Placed) block.Do {
	h, err := w.hostNow(ctx, p.Machine)
	if err != nil {
		h = host.Host{}
	}
	return w.at(p, h)
}

// endAhead ends what is still fetched.
func (w *walker) endAhead() {
	if w.fetching != nil {
		w.fetching.stop()
		w.fetching.done.Wait()
	}
}
