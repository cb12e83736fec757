package linux

import (
	"sync"

	"hostler/interpreter/host"
)

// defaultOutput is what is kept of an output stream unless a command says more,
// in bytes.
const defaultOutput = 1 << 20

func maxOutput(c host.Command) int {
	if c.MaxOutput > 0 {
		return c.MaxOutput
	}
	return defaultOutput
}

// capped keeps the beginning of what is written and takes the rest. It may be
// read while it is still written to.
type capped struct {
	limit int
	mu    sync.Mutex
	kept  []byte
}

// Write never fails, so that the writer is never stopped.
func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, b[:min(len(b), c.limit-len(c.kept))]...)
	return len(b), nil
}

func (c *capped) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.kept...)
}
