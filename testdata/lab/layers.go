package lab

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Layers are what variants change in the base tree: directories made once,
// cached beside the tree and stacked over it.

// layers are the lower directories of a host, the topmost first.
func (r *run) layers(variants []Variant) ([]string, error) {
	lower := []string{r.base("host")}
	for _, v := range variants {
		if v == ReadOnlyUsr || v == NoexecTmp {
			continue // a mount, not a layer
		}
		dir, err := r.layer(v)
		if err != nil {
			return nil, fmt.Errorf("variant %.20s: %w", v, err)
		}
		lower = append([]string{dir}, lower...)
	}
	return lower, nil
}

// cached makes something below the base tree's cache once: build fills the
// path it is given, which is then put in its place.
func (r *run) cached(name string, build func(path string) error) (string, error) {
	dir := filepath.Join(r.trees["host"], "layers")
	final := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := flock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	unfinished := final + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return "", err
	}
	if err := build(unfinished); err != nil {
		return "", err
	}
	return final, os.Rename(unfinished, final)
}

// layer is the cached layer of a variant.
func (r *run) layer(v Variant) (string, error) {
	name := string(v)
	if text, ok := strings.CutPrefix(name, osReleasePrefix); ok {
		name = fmt.Sprintf("os-release-%.12x", sha256.Sum256([]byte(text)))
	}
	return r.cached(name, func(upper string) error {
		mnt, err := r.mkdir("layer")
		if err != nil {
			return err
		}
		work := filepath.Join(filepath.Dir(upper), "work")
		for _, dir := range []string{upper, work} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := mountOverlay(mnt, []string{r.base("host")}, upper, work); err != nil {
			return err
		}
		err = change(mnt, v)
		return errors.Join(err, unmountBelow(mnt), os.RemoveAll(work))
	})
}

// change makes a tree what a variant says.
func change(root string, v Variant) error {
	if text, ok := strings.CutPrefix(string(v), osReleasePrefix); ok {
		return os.WriteFile(filepath.Join(root, "usr/lib/os-release"), []byte(text), 0o644)
	}
	patterns, ok := removals()[v]
	if !ok {
		return errors.New("unknown variant")
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// removals are what variants that lack something lack: patterns of paths.
func removals() map[Variant][]string {
	return map[Variant][]string{
		NoPackageManager: {
			"usr/bin/apt", "usr/bin/apt-*", "usr/bin/dpkg", "usr/bin/dpkg-*", "usr/bin/debconf*", "usr/sbin/dpkg-*",
			"usr/lib/apt", "usr/lib/dpkg", "usr/lib/*/libapt-*", "usr/lib/systemd/system/apt-daily*",
			"usr/lib/systemd/system/dpkg-db*", "etc/systemd/system/timers.target.wants/apt-daily*",
			"etc/systemd/system/timers.target.wants/dpkg-db*", "etc/apt", "etc/dpkg", "etc/cron.daily/apt*", "etc/cron.daily/dpkg",
			"var/lib/apt", "var/lib/dpkg", "var/cache/apt", "var/cache/debconf",
		},
		NoSystemdContainer: {
			"usr/bin/systemd-nspawn", "usr/bin/machinectl", "usr/lib/systemd/systemd-machined", "usr/lib/systemd/systemd-import*",
			"usr/lib/systemd/systemd-export", "usr/lib/systemd/systemd-pull", "usr/lib/systemd/import-pubring.gpg",
			"usr/lib/systemd/system/systemd-machined.service", "usr/lib/systemd/system/systemd-nspawn@.service",
			"usr/lib/systemd/system/systemd-importd.service", "usr/lib/systemd/system/dbus-org.freedesktop.machine1.service",
			"usr/lib/systemd/system/dbus-org.freedesktop.import1.service",
			"usr/share/dbus-1/system-services/org.freedesktop.machine1.service",
			"usr/share/dbus-1/system-services/org.freedesktop.import1.service",
		},
		NoNft: {"usr/sbin/nft", "usr/lib/systemd/system/nftables.service", "etc/nftables.conf"},
	}
}

// usrImage is the cached erofs image of the /usr that layers make up.
func (r *run) usrImage(lower []string) (string, error) {
	name := fmt.Sprintf("usr-%.12x.erofs", sha256.Sum256([]byte(strings.Join(lower, "\n"))))
	return r.cached(name, func(image string) error {
		if len(lower) == 1 {
			return command("mkfs.erofs", "-zlz4", image, filepath.Join(lower[0], "usr"))
		}
		mnt, err := r.mkdir("usr")
		if err != nil {
			return err
		}
		if err := mountOverlay(mnt, lower, "", ""); err != nil {
			return err
		}
		err = command("mkfs.erofs", "-zlz4", image, filepath.Join(mnt, "usr"))
		return errors.Join(err, unmountBelow(mnt))
	})
}
