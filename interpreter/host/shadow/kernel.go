package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// kernel is the kernel door.
type kernel struct{ w *world }

// kernelState is what was changed.
type kernelState struct {
	sysctls map[string]string
	modules map[string]bool
	// module is the one that was loaded first and was not there before.
	module    string
	swaps     map[string]*host.SwapArea
	unmounted []string
}

// ask runs a question on the base of what runs here.
func ask[T any](ctx context.Context, w *world, question func(host.View) (T, error)) (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, err := w.running(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return question(v)
}

// do runs an effect, and notes it when it succeeded.
func do(ctx context.Context, w *world, kind, name string, effect func(host.View) error) error {
	_, err := ask(ctx, w, func(v host.View) (struct{}, error) { return struct{}{}, effect(v) })
	if err == nil {
		w.log.note(kind, name)
	}
	return err
}

// Release is the base's.
func (k *kernel) Release(ctx context.Context) (string, error) {
	return ask(ctx, k.w, func(v host.View) (string, error) { return v.Kernel.Release(ctx) })
}

// CgroupVersion is the base's.
func (k *kernel) CgroupVersion(ctx context.Context) (int, error) {
	return ask(ctx, k.w, func(v host.View) (int, error) { return v.Kernel.CgroupVersion(ctx) })
}

// ModuleAvailable is the base's.
func (k *kernel) ModuleAvailable(ctx context.Context, name string) (bool, error) {
	return ask(ctx, k.w, func(v host.View) (bool, error) { return v.Kernel.ModuleAvailable(ctx, name) })
}

// ModuleLoaded says whether the module is loaded in the base or the shadow.
func (k *kernel) ModuleLoaded(ctx context.Context, name string) (bool, error) {
	return ask(ctx, k.w, func(v host.View) (bool, error) {
		if k.w.kernel.modules[moduleKey(name)] {
			return true, nil
		}
		return v.Kernel.ModuleLoaded(ctx, name)
	})
}

// moduleKey makes one of the two spellings of a module's name.
func moduleKey(name string) string { return strings.ReplaceAll(name, "-", "_") }

// LoadModule loads a module that is available.
func (k *kernel) LoadModule(ctx context.Context, name string) error {
	return do(ctx, k.w, "load-module", name, func(v host.View) error {
		there, err := v.Kernel.ModuleAvailable(ctx, name)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("kernel module %s: %w", name, fs.ErrNotExist)
		}
		loaded, err := v.Kernel.ModuleLoaded(ctx, name)
		if err != nil {
			return err
		}
		if !loaded && k.w.kernel.module == "" {
			k.w.kernel.module = name
		}
		keep(&k.w.kernel.modules, moduleKey(name), true)
		return nil
	})
}

func keep[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}

// Sysctl is the value that was set, else the base's.
func (k *kernel) Sysctl(ctx context.Context, key string) (string, error) {
	return ask(ctx, k.w, func(v host.View) (string, error) {
		if value, ok := k.w.kernel.sysctls[sysctlKey(key)]; ok {
			return value, nil
		}
		value, err := v.Kernel.Sysctl(ctx, key)
		if errors.Is(err, fs.ErrNotExist) && k.w.kernel.module != "" {
			return "", host.Unknownf("module %s, which may bring the kernel parameter %s, is not loaded yet", k.w.kernel.module, key)
		}
		return value, err
	})
}

// SetSysctl sets a value. A key that does not exist is accepted once a module
// was loaded, which may bring it.
func (k *kernel) SetSysctl(ctx context.Context, key, value string) error {
	return do(ctx, k.w, "sysctl", key, func(v host.View) error {
		_, err := v.Kernel.Sysctl(ctx, key)
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || k.w.kernel.module == "") {
			return err
		}
		keep(&k.w.kernel.sysctls, sysctlKey(key), strings.TrimRight(value, "\n"))
		return nil
	})
}

// sysctlKey is the slashed form. As sysctl(8) reads it, the first separator
// says which one is used; the other is then part of a name.
func sysctlKey(key string) string {
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '/' {
		return key
	}
	return strings.NewReplacer(".", "/", "/", ".").Replace(key)
}

// Swaps lists the active swap areas.
func (k *kernel) Swaps(ctx context.Context) ([]host.SwapArea, error) {
	return ask(ctx, k.w, func(v host.View) ([]host.SwapArea, error) { return k.w.activeSwaps(ctx, v) })
}

func (w *world) activeSwaps(ctx context.Context, v host.View) ([]host.SwapArea, error) {
	all, err := v.Kernel.Swaps(ctx)
	if err != nil {
		return nil, err
	}
	active := slices.DeleteFunc(slices.Clone(all), func(area host.SwapArea) bool {
		_, changed := w.kernel.swaps[area.Name]
		return changed
	})
	for _, area := range w.kernel.swaps {
		if area != nil {
			active = append(active, *area)
		}
	}
	slices.SortFunc(active, func(a, b host.SwapArea) int { return strings.Compare(a.Name, b.Name) })
	return active, nil
}

// SwapOff stops swapping on an active area.
func (k *kernel) SwapOff(ctx context.Context, area string) error {
	return k.swap(ctx, "swap-off", area, nil)
}

// SwapOn starts swapping on one area.
func (k *kernel) SwapOn(ctx context.Context, area host.SwapArea) error {
	return k.swap(ctx, "swap-on", area.Name, &area)
}

func (k *kernel) swap(ctx context.Context, kind, name string, on *host.SwapArea) error {
	return do(ctx, k.w, kind, name, func(v host.View) error {
		active, err := k.w.activeSwaps(ctx, v)
		switch is := slices.Contains(host.SwapNames(active), name); {
		case err != nil:
			return err
		case is && on != nil:
			return fmt.Errorf("swap area %s: %w", name, syscall.EBUSY)
		case !is && on == nil:
			return fmt.Errorf("swap area %s: %w", name, syscall.EINVAL)
		}
		keep(&k.w.kernel.swaps, name, on)
		return nil
	})
}

// Unmount takes a mount away, below which the directory is empty.
func (k *kernel) Unmount(ctx context.Context, path string) error {
	return do(ctx, k.w, "unmount", path, func(v host.View) error {
		mounts, err := k.w.mounted(ctx, v)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(mounts, func(m host.MountState) bool { return m.Point == path }) {
			return fmt.Errorf("unmount %s: %w (nothing is mounted there)", path, syscall.EINVAL)
		}
		k.w.kernel.unmounted = append(k.w.kernel.unmounted, path)
		k.w.files.unmount(path)
		return nil
	})
}
