package requirecapability

import (
	"context"
	"fmt"

	"hostler/interpreter/block"
)

func writable(dir string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		return findingOf(block.Writable(ctx, in.View, dir))
	}
}

func executableFrom(dir string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		return findingOf(block.RunsFrom(ctx, in.View, dir))
	}
}

func findingOf(u *block.Unmet, err error) (*finding, error) {
	if u == nil {
		return nil, err
	}
	return &finding{summary: u.Summary, advice: u.Advice}, err
}

func freeSpace(dir string, bytes uint64) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		m, err := in.View.Storage.Mount(ctx, dir)
		if err != nil || m.FreeBytes >= bytes {
			return nil, err
		}
		return &finding{
			summary: fmt.Sprintf("%s has %d bytes free (mounted at %s), %d are needed", dir, m.FreeBytes, m.Point, bytes),
			advice:  "free some space or use a larger disk",
		}, nil
	}
}
