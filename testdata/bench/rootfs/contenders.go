package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// contender is a way to unpack an image. script is a bash script that does it
// below a directory, "" where it cannot. atMost is what this program is to
// take of its time, 0 for no matter.
type contender struct {
	name   string
	atMost float64
	script func(img image, into string) string
}

func ours() contender {
	return contender{"hostler", 0, func(img image, into string) string {
		self, err := os.Executable()
		if err != nil {
			return "false"
		}
		return fmt.Sprintf("exec %s %s oci-layout:%s:bench %s", self, unpackVerb, img.layout, into)
	}}
}

// contenders are all that are compared.
func contenders() []contender {
	return []contender{
		ours(),
		{"tar -x (plain)", 0, func(img image, into string) string {
			return eachLayer(img.tars, into, "tar -C $TO --numeric-owner -xf %s")
		}},
		{"tar -xzf", 0.7, func(img image, into string) string {
			return eachLayer(only(img.layers, ".gz"), into, "tar -C $TO --numeric-owner -xzf %s")
		}},
		{"pigz -dc | tar -x", 1, func(img image, into string) string {
			return eachLayer(only(img.layers, ".gz"), into, "pigz -dc %s | tar -C $TO --numeric-owner -x")
		}},
		{"tar --zstd -x", 0.9, func(img image, into string) string {
			return eachLayer(only(img.layers, ".zst"), into, "tar -C $TO --numeric-owner --zstd -xf %s")
		}},
		{"umoci unpack", 0.3, umoci},
		{"skopeo copy + tar", 0, skopeo},
		{"machinectl import-tar", 0, importTar},
	}
}

func eachLayer(files []string, into, format string) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "TO=%s/root; mkdir $TO\n", into)
	for _, file := range files {
		fmt.Fprintf(&b, format+"\n", file)
	}
	return b.String()
}

func only(files []string, suffix string) []string {
	if len(files) > 0 && strings.HasSuffix(files[0], suffix) {
		return files
	}
	return nil
}

// umoci has no zstd in the versions that distributions ship.
func umoci(img image, into string) string {
	if only(img.layers, ".gz") == nil {
		return ""
	}
	return fmt.Sprintf("umoci --log=error unpack --image %s:bench %s/bundle", img.layout, into)
}

func skopeo(img image, into string) string {
	if only(img.layers, ".gz") == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "skopeo copy --quiet --insecure-policy oci:%s:bench dir:%s/copy\n", img.layout, into)
	for _, file := range img.blobs {
		fmt.Fprintf(&b, "mkdir -p %[1]s/root; tar -C %[1]s/root --numeric-owner -xzf %[1]s/copy/%[2]s\n", into, filepath.Base(file))
	}
	return b.String()
}

// importTar is what machinectl import-tar has done: systemd-importd starts this
// program. It takes one archive, has no zstd in the versions that distributions
// ship, and syncs as it does there.
func importTar(img image, into string) string {
	if only(img.layers, ".gz") == nil || len(img.layers) != 1 {
		return ""
	}
	return fmt.Sprintf("/usr/lib/systemd/systemd-import --image-root=%s tar %s bench >/dev/null 2>&1", into, img.layers[0])
}
