package requirecapability

import (
	"regexp"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

func schema() block.Schema {
	kernelMin := block.Text("kernel_min").Says("The oldest kernel that will do, for example `\"5.15\"`.")
	kernelMin.Grammar, kernelMin.Check = "dotted numbers", checkVersion
	address := block.Text("free_address").Says("A TCP address nobody may listen on, for example `\"0.0.0.0:10250\"`.")
	address.Grammar, address.Check = "IP address and port", checkAddress
	image := block.Text("image").Says("An image whose manifest must be to be had: a registry reference, `oci-layout:PATH[:tag]`, or the URL or absolute path of an archive. One by digest that is in the cache needs no network.")
	image.Grammar, image.Check = "image", checkImage
	sha256 := block.Text("sha256").Says("With `image`: the digest of an archive. One that is in the cache needs no network.")
	sha256.Grammar, sha256.Check = "SHA-256 digest", func(v cty.Value) error {
		if !hexDigest.MatchString(v.AsString()) {
			return block.Advicef("A SHA-256 digest has 64 hexadecimal digits; this has %d characters.", len(v.AsString()))
		}
		return nil
	}
	noSwap := block.Attr{Name: "no_swap", Type: cty.Bool, Grammar: "true", Doc: "`true`: no swap may be active."}
	return block.Schema{
		Attrs: []block.Attr{
			block.Text("executable").Says("A program that must be installed: a name, looked up in the usual directories, or an absolute path."),
			block.Texts("executables").Says("Several programs that must all be installed."),
			block.Text("kernel_module").Says("A kernel module that must be loaded, built in or loadable."),
			kernelMin,
			block.Count("systemd_min", 1).Says("The oldest systemd that will do, for example `249`."),
			block.Choice("cgroup", "", "v2").Says("The cgroup hierarchy that must be mounted: `\"v2\"`, the unified one."),
			block.AbsPath("writable").Says("A directory that must be there or can be made: its nearest existing ancestor is on a writable mount."),
			block.AbsPath("executable_from").Says("A directory whose mount must allow programs to be run from it."),
			address,
			block.Text("owner").Labels("nspawn_machine").Says("With `free_address`: the label of an `nspawn_machine` of this recipe whose processes may listen there."),
			block.URL("reachable").Says("A URL that must answer; any answer below 500 will do."),
			block.Text("ca_certificate").Says("With `reachable` and `image`: the certificates to trust, as PEM text or as the absolute path of a file on the host; for an image beside the host's own, and like the `rootfs` of a machine without it those of `/etc/hostler/registry-ca.pem`."),
			image,
			sha256,
			block.UnitName("unit_inactive").Says("A unit that must not run."),
			noSwap,
			block.Choice("severity", "error", "error", "warning").Says("Whether a host that does not meet it is refused or only warned about."),
			packages(),
		},
		Blocks: []block.Nested{{
			Name: "free_space", Max: 1, Doc: "Space that must be free on the file system of a directory, which need not exist.",
			Schema: block.Schema{Attrs: []block.Attr{
				block.AbsPath("path").Must().Says("The directory."),
				block.Count("bytes", 1).Must().Says("How many bytes must be free."),
			}},
		}},
	}
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

var version = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

func checkVersion(v cty.Value) error {
	if !version.MatchString(v.AsString()) {
		return block.Advicef("%q is no version; write dotted numbers such as \"5.15\".", v.AsString())
	}
	return nil
}
