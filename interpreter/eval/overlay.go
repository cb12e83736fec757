package eval

import "path"

// overlay is a recipe some of whose files read otherwise.
type overlay struct {
	Source
	read func(filename string) ([]byte, bool)
}

// Overlay is a recipe whose files read as read says, by the filenames that
// ranges show; where ok is false, as they are. Editors use it for texts that are
// not saved yet.
func Overlay(src Source, read func(filename string) (text []byte, ok bool)) Source {
	return overlay{src, read}
}

// Main is the text over the recipe's own, or that.
func (o overlay) Main() (string, []byte, error) {
	if text, ok := o.read(o.Name()); ok {
		return o.Name(), text, nil
	}
	return o.Source.Main()
}

// ReadFile is the text over a file, or that file.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if text, ok := o.read(path.Join(path.Dir(o.Name()), name)); ok && name == path.Clean(name) {
		return text, nil
	}
	return o.Source.ReadFile(name)
}
