package lab

import (
	"bytes"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// Start runs a program on the lab's network, where hosts reach what it listens
// on at 10.77.0.1, until the test ends. When the test has failed, the end of its
// output is logged.
func Start(t testing.TB, argv ...string) {
	t.Helper()
	r := of(t)
	if err := r.wire(); err != nil {
		t.Fatalf("lab: %v", err)
	}
	out := &output{}
	cmd := exec.Command("ip", append([]string{"netns", "exec", r.id}, argv...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.onThread(cmd.Start); err != nil {
		t.Fatalf("lab: %s: %v", argv[0], err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("lab: end of the output of %s:\n%s", argv[0], out)
		}
	})
}

// output keeps the end of what is written.
type output struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// outputBytes is how much of a program's output is kept.
const outputBytes = 16 << 10

func (b *output) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p)
	if extra := b.kept.Len() - outputBytes; extra > 0 {
		b.kept.Next(extra)
	}
	return len(p), nil
}

func (b *output) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
