package rootfs

import "context"

// finish dresses all directories, the deepest first: what is done below one
// changes its time, and a mode may keep its own owner out.
func (a *applier) finish(ctx context.Context) error {
	return a.dress(ctx, place{a.root, "."})
}

func (a *applier) dress(ctx context.Context, at place) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, base := range at.dir.names() {
		kid := at.dir.kids[base]
		if kid.kind != isDir {
			continue
		}
		if err := a.dress(ctx, place{kid, at.join(base)}); err != nil {
			return err
		}
	}
	warning, err := a.tree.Dress(at.path, at.dir.attrs)
	if err != nil {
		return entryError(at.path, err)
	}
	a.said(at.path, warning)
	return nil
}
