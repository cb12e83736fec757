package deliver

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"testing"
)

func read(t *testing.T, name string) ([]byte, fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data, modeOf(t, name)
}

func modeOf(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// decode is what cloud-init makes of a content.
func decode(t *testing.T, encoding, text string) []byte {
	t.Helper()
	switch encoding {
	case "text/plain":
		return []byte(text)
	case "b64", "gz+b64":
	default:
		t.Fatalf("cloud-init has no encoding %q", encoding)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil && encoding == "gz+b64" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
