package linux

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// Sysctl returns the value in force.
func (k kernel) Sysctl(_ context.Context, key string) (string, error) { return sysctl(k.files, key) }

// SetSysctl sets a value now.
func (k kernel) SetSysctl(_ context.Context, key, value string) error {
	return setSysctl(k.files, key, value)
}

func sysctl(files host.FileView, key string) (string, error) {
	file, err := sysctlFile(key)
	if err != nil {
		return "", err
	}
	text, err := readFile(files, file)
	return strings.TrimSuffix(text, "\n"), err
}

func setSysctl(files host.Files, key, value string) error {
	file, err := sysctlFile(key)
	if err != nil {
		return err
	}
	// Never O_CREAT or O_TRUNC: /proc knows neither.
	f, err := files.OpenFile(file, unix.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value + "\n")
	return errors.Join(err, f.Close())
}

// sysctlFile turns a key into its file. As with sysctl(8), the separator that
// comes first counts: in "net.ipv4.conf.eth0/1.rp_filter" a slash stands for a
// dot in a name, in "net/ipv4/conf/eth0.1/rp_filter" dots are dots.
func sysctlFile(key string) (string, error) {
	slashed := key
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '.' {
		slashed = strings.NewReplacer(".", "/", "/", ".").Replace(key)
	}
	parts := strings.Split(slashed, "/")
	if slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) {
		return "", &fs.PathError{Op: "sysctl", Path: key, Err: unix.EINVAL}
	}
	return path.Join("/proc/sys", slashed), nil
}
