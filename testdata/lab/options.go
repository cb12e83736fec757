package lab

// Options say what a host is like. The zero value is a good host.
type Options struct {
	Store    Store
	Variants []Variant
	// Files are written before the first boot: absolute path to content.
	// A content that starts with "#!" becomes executable.
	Files map[string]string
	// Name is the host name; "host" when empty.
	Name string
	// FirstBoot leaves the machine-id uninitialized: the first boot is one to
	// systemd (ConditionFirstBoot, presets). Else it has an id already.
	FirstBoot bool
	// DiskMiB is the size of the disk; 3072 when 0. XFS wants 300 or more.
	DiskMiB int
	// Nspawn are further arguments to the systemd-nspawn the host runs in,
	// such as --bind=.
	Nspawn []string
}

func (o Options) name() string {
	if o.Name == "" {
		return "host"
	}
	return o.Name
}

// has says whether a variant is asked for.
func (o Options) has(v Variant) bool {
	for _, w := range o.Variants {
		if w == v {
			return true
		}
	}
	return false
}

// Store is what a host's writable files are on. Its /usr and the rest of the
// base tree are below an overlay in all of them; /var is a plain directory, so
// that machines in it can have overlays and ID-mapped mounts of their own.
type Store int

const (
	// DiskExt4 is a disk of its own with ext4, which commits by itself only
	// every ten minutes.
	DiskExt4 Store = iota
	// DiskXFS is a disk of its own with XFS, which does not hide a missing
	// fsync before a rename as ext4 does.
	DiskXFS
	// Overlay is a directory of the machine the lab runs on: a little quicker,
	// but without power loss.
	Overlay
)

// Variant is a way in which a host differs from a plain Debian.
type Variant string

const (
	// ReadOnlyUsr has /usr on a read-only filesystem of its own (erofs).
	ReadOnlyUsr Variant = "read-only-usr"
	// NoexecTmp has a /tmp from which nothing can be executed.
	NoexecTmp Variant = "noexec-tmp"
	// NoPackageManager has no apt and no dpkg, nor their data.
	NoPackageManager Variant = "no-package-manager"
	// NoSystemdContainer has no nspawn, machined, machinectl and importd.
	NoSystemdContainer Variant = "no-systemd-container"
	// NoNft has no nft.
	NoNft Variant = "no-nft"
)

const osReleasePrefix = "os-release:"

// OSRelease is a host with this text as its os-release.
func OSRelease(text string) Variant { return Variant(osReleasePrefix + text) }

// Loss is how a power cut treats what was not synced. A sync of one file makes
// a filesystem keep earlier changes of names too, and the kernel writes what
// is half a minute old by itself, so the cut is best made at once.
type Loss int

const (
	// LogFlush keeps all changes of names and sizes, and loses file data that
	// was not synced: what was written and renamed without fsync is there,
	// but empty or torn (XFS) or not at all (new files on ext4).
	LogFlush Loss = 1
	// Plain loses all that was not synced.
	Plain Loss = 2
)
