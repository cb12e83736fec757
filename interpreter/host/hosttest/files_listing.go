package hosttest

import (
	"errors"
	"io"
	"slices"
	"syscall"
)

func listing(x tree) {
	x.mkdir("dir")
	x.write("dir/file", "12345")
	x.mkdir("dir/sub")
	x.link("file", "dir/link")
	x.link("nowhere", "dir/dangling")
	infos, err := x.open("dir", syscall.O_RDONLY).Readdir(-1)
	x.ok(err)
	var got []string
	for _, info := range infos {
		got = append(got, info.Name()+" "+info.Mode().Type().String())
		if _, ok := info.Sys().(*syscall.Stat_t); !ok {
			x.Errorf("%s: Sys is a %T", info.Name(), info.Sys())
		}
	}
	slices.Sort(got)
	x.same(got, "dangling L---------", "file ----------", "link L---------", "sub d---------")
	names, err := x.open("dir", syscall.O_RDONLY).Readdirnames(0)
	x.ok(err)
	slices.Sort(names)
	x.same(names, "dangling", "file", "link", "sub")
}

func listingPieces(x tree) {
	x.mkdir("dir")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		x.write("dir/"+name, name)
	}
	d := x.open("dir", syscall.O_RDONLY)
	var names []string
	for range 6 {
		infos, err := d.Readdir(2)
		for _, info := range infos {
			names = append(names, info.Name())
		}
		if errors.Is(err, io.EOF) && len(infos) == 0 {
			break
		}
		x.ok(err)
	}
	slices.Sort(names)
	x.same(names, "a", "b", "c", "d", "e")
	if _, err := d.Readdirnames(1); !errors.Is(err, io.EOF) {
		x.Errorf("Readdirnames(1) at the end: %v, want io.EOF", err)
	}
	if rest, err := d.Readdir(-1); err != nil || len(rest) != 0 {
		x.Errorf("Readdir(-1) at the end: %d entries, %v", len(rest), err)
	}
}
