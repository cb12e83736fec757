package host

// Facts are what expressions read as host.*, captured once per run. Live-only
// facts (Kernel, Hostname, Systemd) are "" and 0 on a host that is not live.
type Facts struct {
	OS       OSRelease `json:"os"`
	Arch     string    `json:"arch"` // Go's names: "amd64", "arm64"
	Hostname string    `json:"hostname,omitempty"`
	Kernel   string    `json:"kernel,omitempty"`
	Systemd  int       `json:"systemd,omitempty"`
	// ImageManaged says that the host declares itself image-managed or
	// provably cannot install packages.
	ImageManaged bool `json:"image_managed"`
	// Live is Identity.Live and Root Identity.Root.
	Live bool   `json:"live"`
	Root string `json:"root"`
}

// OSRelease is the identifying part of os-release(5); missing fields are "".
type OSRelease struct {
	ID        string   `json:"id"`
	IDLike    []string `json:"id_like,omitempty"`
	VersionID string   `json:"version_id,omitempty"`
	VariantID string   `json:"variant_id,omitempty"`
	Name      string   `json:"name,omitempty"`
	// Path is the file it was read from, "" when there is none.
	Path string `json:"-"`
}
