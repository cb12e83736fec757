package host_test

import (
	"testing"

	"hostler/interpreter/host"
)

func TestDeclaresImageManaged(t *testing.T) {
	for _, c := range []struct {
		os   host.OSRelease
		want bool
	}{
		{host.OSRelease{ID: "azurelinux", VariantID: "azurecontainerlinux"}, true},
		{host.OSRelease{ID: "azurelinux"}, false},
		{host.OSRelease{ID: "fedora", VariantID: "coreos"}, true},
		{host.OSRelease{ID: "debian"}, false},
		{host.OSRelease{}, false},
	} {
		if got := c.os.DeclaresImageManaged(); got != c.want {
			t.Errorf("%+v: %v", c.os, got)
		}
	}
}
