package rootfs

import (
	"context"

	"hostler/interpreter/host"
)

// RemoveTree is [host.RemoveTree].
func RemoveTree(ctx context.Context, h host.Host, dir string) error {
	return host.RemoveTree(ctx, h, dir)
}
