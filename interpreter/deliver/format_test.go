package deliver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestC84UserDataLimits: text is compressed until it fits; what does not is an
// error on the platform named, else a warning; a pointer fits.
func TestC84UserDataLimits(t *testing.T) {
	words := rand.New(rand.NewPCG(1, 2))
	prose := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "write_file_if_changed \"n%d\" { path = \"/etc/%x\" }\n", words.IntN(1000), words.IntN(1<<20))
		}
		return b.String()[:size]
	}
	noise := make([]byte, 20<<10)
	for i := range noise {
		noise[i] = byte(words.IntN(256))
	}
	for name, c := range map[string]struct {
		content    string
		aws, azure bool // fits
	}{
		"40 KiB of text":  {prose(40 << 10), true, true},
		"70 KiB of text":  {prose(70 << 10), true, true},
		"100 KiB of text": {prose(100 << 10), false, true},
		"20 KiB of noise": {string(noise), false, true},
		"500 KiB of text": {prose(500 << 10), false, false},
	} {
		req := request()
		req.Recipe.Files["/etc/hostler/recipe/files/big"] = []byte(c.content)
		for _, f := range Formats() {
			text := f.Encode(payload(t, f, req))
			for platform, fits := range map[string]bool{"aws": c.aws, "azure": c.azure} {
				_, err := Fits(len(text), platform)
				if (err == nil) != fits || err != nil && !errors.Is(err, ErrTooLarge) {
					t.Errorf("%s, %s on %s, %d bytes: %v", name, f.Name, platform, len(text), err)
				}
				if err != nil && (!strings.Contains(err.Error(), fmt.Sprint(len(text))) || !strings.Contains(err.Error(), FlagPointer)) {
					t.Errorf("the error does not say the size and what to do: %v", err)
				}
			}
			warnings, err := Fits(len(text), "")
			if want := 2 - count(c.aws) - count(c.azure); err != nil || len(warnings) != want {
				t.Errorf("%s, %s without a platform: %q, want %d warnings: %v", name, f.Name, warnings, want, err)
			}
			pointer, err := f.Pointer("https://files.example/whole", text)
			if err != nil || len(pointer) > 4<<10 {
				t.Errorf("%s: a pointer of %d bytes: %v", f.Name, len(pointer), err)
			}
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestPlatformNames(t *testing.T) {
	_, err := Fits(1, "moon")
	if e, ok := errors.AsType[*FlagError](err); !ok || e.Flag != FlagPlatform || !strings.Contains(err.Error(), "aws and azure") {
		t.Errorf("an unknown platform: %v", err)
	}
}

// TestPointerURL: it is held to what can fetch it, too.
func TestPointerURL(t *testing.T) {
	for _, f := range Formats() {
		_, err := f.Pointer("oci://registry.example/x", nil)
		if e, ok := errors.AsType[*FlagError](err); !ok || e.Flag != FlagPointer {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
