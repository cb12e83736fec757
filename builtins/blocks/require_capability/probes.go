package requirecapability

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// kind is one kind of requirement, chosen by its attribute or nested block.
type kind struct {
	attr string
	// make returns the probe for the block's arguments and what it is about.
	make func(args cty.Value) (p probe, subject string)
}

func probes(o Options) []kind {
	return []kind{
		texts("executable", func(name string) probe { return executables([]string{name}) }),
		{"executables", func(args cty.Value) (probe, string) {
			var names []string
			for _, v := range args.GetAttr("executables").AsValueSlice() {
				names = append(names, v.AsString())
			}
			return executables(names), strings.Join(names, ", ")
		}},
		texts("kernel_module", kernelModule),
		texts("kernel_min", kernelMin),
		{"systemd_min", func(args cty.Value) (probe, string) {
			n, _ := args.GetAttr("systemd_min").AsBigFloat().Int64()
			return systemdMin(int(n)), strconv.FormatInt(n, 10)
		}},
		texts("cgroup", func(string) probe { return cgroupV2 }),
		texts("writable", writable),
		texts("executable_from", executableFrom),
		{"free_space", func(args cty.Value) (probe, string) {
			v := args.GetAttr("free_space").AsValueSlice()[0]
			n, _ := v.GetAttr("bytes").AsBigFloat().Uint64()
			dir := v.GetAttr("path").AsString()
			return freeSpace(dir, n), dir
		}},
		{"free_address", func(args cty.Value) (probe, string) {
			address := args.GetAttr("free_address").AsString()
			return freeAddress(address, optional(args.GetAttr("owner"))), address
		}},
		{"reachable", func(args cty.Value) (probe, string) {
			url := args.GetAttr("reachable").AsString()
			return reachable(url, optional(args.GetAttr("ca_certificate"))), url
		}},
		{"image", func(args cty.Value) (probe, string) {
			ref := args.GetAttr("image").AsString()
			return image(picture{ref, optional(args.GetAttr("sha256")), optional(args.GetAttr("ca_certificate"))}, o), ref
		}},
		texts("unit_inactive", unitInactive),
		{"no_swap", func(cty.Value) (probe, string) { return noSwap, "" }},
	}
}

// texts is a kind whose attribute is a string.
func texts(attr string, of func(string) probe) kind {
	return kind{attr, func(args cty.Value) (probe, string) {
		value := args.GetAttr(attr).AsString()
		return of(value), value
	}}
}

func optional(v cty.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}

func executables(names []string) probe {
	return func(_ context.Context, in block.Look) (*finding, error) {
		var missing []string
		for _, name := range names {
			_, err := host.LookTool(in.View.Files, name)
			if errors.Is(err, host.ErrNoTool) {
				missing = append(missing, name)
			} else if err != nil {
				return nil, err
			}
		}
		if len(missing) == 0 {
			return nil, nil
		}
		return &finding{
			summary: "missing on this host: " + strings.Join(missing, ", "),
			advice:  "install the package that holds it, or name one in packages",
		}, nil
	}
}

func kernelModule(name string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		ok, err := in.View.Kernel.ModuleAvailable(ctx, name)
		if err != nil || ok {
			return nil, err
		}
		return &finding{summary: fmt.Sprintf("the kernel has no module %s", name), advice: "install the kernel's modules package, or use an image whose kernel has it"}, nil
	}
}

func kernelMin(min string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		release, err := in.View.Kernel.Release(ctx)
		if err != nil || !older(release, min) {
			return nil, err
		}
		return &finding{summary: fmt.Sprintf("the kernel is %s, older than %s", release, min), advice: "update the host's kernel or image"}, nil
	}
}

// older compares the leading dotted numbers of a kernel release with a
// version; missing numbers are 0.
func older(release, min string) bool {
	have, want := numbers(release), numbers(min)
	for i, w := range want {
		h := 0
		if i < len(have) {
			h = have[i]
		}
		if h != w {
			return h < w
		}
	}
	return false
}

func numbers(s string) (list []int) {
	for _, part := range strings.Split(s, ".") {
		end := 0
		for end < len(part) && part[end] >= '0' && part[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			return list
		}
		if list = append(list, n); end < len(part) {
			return list
		}
	}
	return list
}

func systemdMin(min int) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		m, err := in.View.Units.Manager(ctx)
		switch {
		case errors.Is(err, host.ErrNoManager) && !in.View.Identity.Live:
			return nil, host.Unknownf("systemd does not run on an offline root; its version is checked on the running host")
		case errors.Is(err, host.ErrNoManager):
			return &finding{summary: "systemd does not run on this host", advice: "boot it with systemd as its service manager"}, nil
		case err != nil || m.Version >= min:
			return nil, err
		}
		return &finding{summary: fmt.Sprintf("systemd is version %d, older than %d", m.Version, min), advice: "update the host's systemd or image"}, nil
	}
}

func cgroupV2(ctx context.Context, in block.Look) (*finding, error) {
	v, err := in.View.Kernel.CgroupVersion(ctx)
	if err != nil || v == 2 {
		return nil, err
	}
	return &finding{summary: fmt.Sprintf("the host uses cgroup v%d", v), advice: "boot it with systemd.unified_cgroup_hierarchy=1 on the kernel command line"}, nil
}

func unitInactive(name string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		u, err := in.View.Units.Unit(ctx, name)
		switch {
		case errors.Is(err, host.ErrNoManager) && !in.View.Identity.Live:
			return nil, host.Unknownf("no unit runs on an offline root; %s is looked at on the running host", name)
		case errors.Is(err, host.ErrNoManager):
			return nil, nil
		case err != nil || !u.Running():
			return nil, err
		}
		return &finding{
			summary: fmt.Sprintf("%s is %s", name, u.ActiveState),
			advice:  fmt.Sprintf("stop it and keep it from starting: systemctl disable --now %s", name),
		}, nil
	}
}

func noSwap(ctx context.Context, in block.Look) (*finding, error) {
	swaps, err := in.View.Kernel.Swaps(ctx)
	if err != nil || len(swaps) == 0 {
		return nil, err
	}
	return &finding{summary: "swap is active: " + strings.Join(host.SwapNames(swaps), ", "), advice: "turn it off with swapoff -a and take it out of /etc/fstab, or use the block swap"}, nil
}
