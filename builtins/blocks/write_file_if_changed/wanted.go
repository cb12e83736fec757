package writefileifchanged

import (
	"encoding/base64"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

// wanted is the bytes the file is to hold, or what is known of them.
type wanted struct {
	known   bool
	bytes   []byte
	hole    *block.Hole
	encoded bool // the hole is of base64 text
}

func (w *wanted) fill(name string, a arguments, args block.Args) (err error) {
	w.encoded = name == "content_base64"
	if hole, ok := args.Holes[name]; ok {
		w.hole = &hole
		return nil
	}
	switch name {
	case "content":
		w.bytes = []byte(*a.Content)
	case "content_base64":
		w.bytes, err = base64.StdEncoding.DecodeString(*a.ContentBase64)
	case "source":
		if args.Assets == nil {
			return nil // made from a claim, to be undone only
		}
		w.bytes, err = args.Assets.ReadFile(*a.Source)
		if err != nil && args.Ranges == nil {
			return nil
		}
	}
	w.known = err == nil
	return err
}

// digest is what is known of the bytes' digest: keyed for a sensitive hole, ""
// when nothing is.
func (w *wanted) digest() string {
	switch {
	case w.known:
		return thing.Digest(w.bytes)
	case w.hole == nil || w.encoded:
		return ""
	case w.hole.Keyed != "":
		return w.hole.Keyed
	}
	return w.hole.Digest
}
