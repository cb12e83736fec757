package linux

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// resident is how much of files this process holds in memory, in KiB.
func resident(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "RssFile: %d kB", &n); err == nil {
			return n
		}
	}
	t.Fatal("no RssFile")
	return 0
}

// TestSlim: less is held afterwards, and the program goes on.
func TestSlim(t *testing.T) {
	before := resident(t)
	if err := Slim(); err != nil {
		t.Fatal(err)
	}
	if after := resident(t); after >= before {
		t.Errorf("%d KiB are held of files, %d before", after, before)
	}
}

func TestMapping(t *testing.T) {
	for line, want := range map[string]string{
		"00400000-00b5c000 r-xp 00000000 fe:01 12  /opt/hostler":   "400000 b5c000 r-xp",
		"00400000-00b5c000 r-xp 00000000 fe:01 12  /opt/hostler-x": "0 0 ",
		"x r-xp /opt/hostler": "0 0 ",
	} {
		start, end, access := mapping(line, "/opt/hostler")
		if got := fmt.Sprintf("%x %x %s", start, end, access); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
