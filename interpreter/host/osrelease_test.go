package host_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/host"
)

func TestOSReleaseFixtures(t *testing.T) {
	tests := map[string]host.OSRelease{
		"acl":          {ID: "azurelinux", IDLike: []string{"flatcar"}, VersionID: "3.0", VariantID: "azurecontainerlinux", Name: "Azure Container Linux"},
		"azurelinux-3": {ID: "azurelinux", VersionID: "3.0", Name: "Microsoft Azure Linux"},
		"flatcar":      {ID: "flatcar", IDLike: []string{"coreos"}, VersionID: "4230.2.1", Name: "Flatcar Container Linux by Kinvolk"},
		"ubuntu-26.04": {ID: "ubuntu", IDLike: []string{"debian"}, VersionID: "26.04", Name: "Ubuntu"},
		"debian-13":    {ID: "debian", VersionID: "13", Name: "Debian GNU/Linux"},
		"rhel-8":       {ID: "rhel", IDLike: []string{"fedora"}, VersionID: "8.9", Name: "Red Hat Enterprise Linux"},
		"rocky-9":      {ID: "rocky", IDLike: []string{"rhel", "centos", "fedora"}, VersionID: "9.6", Name: "Rocky Linux"},
		"unknown":      {ID: "homegrown", Name: "Home Grown"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			put(t, h.Files, "/etc/os-release", osRelease(t, name), 0o644)
			want.Path = "/etc/os-release"
			got, err := host.ReadOSRelease(h.Files)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestC67OSReleaseForms: all legal forms, and some that are not.
func TestC67OSReleaseForms(t *testing.T) {
	tests := map[string]struct {
		text string
		want host.OSRelease
	}{
		"single quotes":           {"ID='rhcos'\n", host.OSRelease{ID: "rhcos"}},
		"several words":           {`ID_LIKE="rhel  fedora"`, host.OSRelease{IDLike: []string{"rhel", "fedora"}}},
		"escapes":                 {`NAME="A \"B\" \$C \\ \n"`, host.OSRelease{Name: `A "B" $C \ \n`}},
		"single quotes keep":      {`NAME='A \"B" $C'`, host.OSRelease{Name: `A \"B" $C`}},
		"comments":                {"# ID=no\n;ID=no\nID=yes # not a comment\n#\n", host.OSRelease{ID: "yes # not a comment"}},
		"CRLF":                    {"ID=debian\r\nVERSION_ID=\"12\"\r\n\r\nNAME=x\r\n", host.OSRelease{ID: "debian", VersionID: "12", Name: "x"}},
		"duplicates":              {"ID=a\nID=b\n", host.OSRelease{ID: "b"}},
		"indented":                {"  ID=a\n\tVERSION_ID=1  \n", host.OSRelease{ID: "a", VersionID: "1"}},
		"no final line end":       {"ID=a\nVERSION_ID=1", host.OSRelease{ID: "a", VersionID: "1"}},
		"parts put together":      {`ID="a"'b'c\d`, host.OSRelease{ID: "abcd"}},
		"a continued line":        {"ID=a\\\nb\nNAME=\"c\\\nd\"\n", host.OSRelease{ID: "ab", Name: "cd"}},
		"a value of two lines":    {"NAME=\"c\nd\"\nID=a", host.OSRelease{Name: "c\nd", ID: "a"}},
		"empty values":            {"ID=\nNAME=\"\"\nVERSION_ID=''\nVARIANT_ID=v\n", host.OSRelease{VariantID: "v"}},
		"blanks in quotes":        {`NAME=" a "`, host.OSRelease{Name: " a "}},
		"a byte order mark":       {"\ufeffID=a\n", host.OSRelease{ID: "a"}},
		"lines that say nothing":  {"nonsense\nID=a\n=b\n9ID=c\nI D=d\nNAME=x", host.OSRelease{ID: "a", Name: "x"}},
		"an unterminated quote":   {"ID=a\nNAME=\"b", host.OSRelease{ID: "a", Name: "b"}},
		"a backslash at the end":  {`ID=a\`, host.OSRelease{ID: "a"}},
		"nothing":                 {"", host.OSRelease{}},
		"no version is no number": {"ID=arch\n", host.OSRelease{ID: "arch"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			put(t, h.Files, "/etc/os-release", tt.text, 0o644)
			tt.want.Path = "/etc/os-release"
			got, err := host.ReadOSRelease(h.Files)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestC67OSReleasePlaces: which of the two files is read.
func TestC67OSReleasePlaces(t *testing.T) {
	const etc, usr = "/etc/os-release", "/usr/lib/os-release"
	tests := map[string]struct {
		make     func(f host.Files)
		path, id string
	}{
		"neither":                       {func(f host.Files) {}, "", ""},
		"only /usr/lib":                 {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644) }, usr, "usr"},
		"both":                          {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); put(t, f, etc, "ID=etc", 0o644) }, etc, "etc"},
		"a link":                        {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); link(t, f, "../usr/lib/os-release", etc) }, etc, "usr"},
		"an absolute link in the root":  {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); link(t, f, usr, etc) }, etc, "usr"},
		"a dangling link":               {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); link(t, f, "nowhere", etc) }, usr, "usr"},
		"a link to itself":              {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); link(t, f, "os-release", etc) }, usr, "usr"},
		"etc is a file":                 {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); put(t, f, "/etc", "", 0o644) }, usr, "usr"},
		"empty, which hides the second": {func(f host.Files) { put(t, f, usr, "ID=usr", 0o644); put(t, f, etc, "", 0o644) }, etc, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			tt.make(h.Files)
			got, err := host.ReadOSRelease(h.Files)
			if err != nil || got.Path != tt.path || got.ID != tt.id {
				t.Errorf("read %+v, %v; want %q from %q", got, err, tt.id, tt.path)
			}
		})
	}
	h := newHost(t)
	if err := h.Files.MkdirAll(etc, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := host.ReadFacts(t.Context(), h.View()); err == nil || !strings.Contains(err.Error(), etc) {
		t.Errorf("a directory for os-release: %v, want an error that names it", err)
	}
}
