package syntax

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// MaxFileSize is the largest text that is parsed, in bytes.
const MaxFileSize = 1 << 20

// Text is a text without a UTF-8 byte-order mark, for other parsers than those
// here. What is too large, holds a NUL byte or is no UTF-8 is refused.
func Text(name string, src []byte) ([]byte, hcl.Diagnostics) {
	if diags := checkText(name, src); diags.HasErrors() {
		return nil, diags
	}
	return withoutMark(src), nil
}

// decode brings a text to the form that is parsed: see the package comment.
func decode(name string, src []byte) ([]byte, hcl.Diagnostics) {
	src, diags := Text(name, src)
	if diags.HasErrors() {
		return nil, diags
	}
	text := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if at := bytes.IndexByte(text, '\r'); at >= 0 {
		return nil, hcl.Diagnostics{newLocator(name, text).byteFault(at, "Stray carriage return",
			"This carriage return does not end a line. Lines end with LF or CR LF; "+
				"where a text needs a carriage return, write \\r in a quoted string.")}
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	return text, nil
}

// withoutMark takes the UTF-8 byte-order mark away.
func withoutMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) }

// checkText refuses what is too large or no UTF-8 text.
func checkText(name string, src []byte) hcl.Diagnostics {
	if len(src) > MaxFileSize {
		return hcl.Diagnostics{startFault(name, "File too large", fmt.Sprintf(
			"This file has more than %d bytes, which is the limit. Keep large content in a file of its own "+
				"below the recipe and name it with source.", MaxFileSize))}
	}
	if kind := wideEncoding(src); kind != "" {
		return hcl.Diagnostics{startFault(name, "Not a UTF-8 file", fmt.Sprintf(
			"This file is encoded as %s. It must be UTF-8: save it again in that encoding.", kind))}
	}
	src = withoutMark(src)
	if at := bytes.IndexByte(src, 0); at >= 0 {
		return hcl.Diagnostics{newLocator(name, src).byteFault(at, "NUL byte in file",
			"A recipe is text and holds no NUL bytes. Remove it; content that is not text goes "+
				"into content_base64 or a file named with source.")}
	}
	if at := invalidUTF8(src); at >= 0 {
		return hcl.Diagnostics{newLocator(name, src).byteFault(at, "Invalid UTF-8", fmt.Sprintf(
			"The byte 0x%02X does not belong to any UTF-8 character here. The file must be UTF-8: "+
				"save it again in that encoding.", src[at]))}
	}
	return nil
}

// wideEncoding names the encoding of a text that is UTF-16 or UTF-32, by its
// byte-order mark or by the NUL in every other byte of its beginning.
func wideEncoding(src []byte) string {
	switch {
	case bytes.HasPrefix(src, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(src, []byte{0, 0, 0xfe, 0xff}):
		return "UTF-32"
	case bytes.HasPrefix(src, []byte{0xff, 0xfe}), bytes.HasPrefix(src, []byte{0xfe, 0xff}):
		return "UTF-16"
	}
	head := src[:min(len(src), 128)]
	var nuls [2]int
	for i, b := range head {
		if b == 0 {
			nuls[i%2]++
		}
	}
	half := len(head) / 2
	if half >= 2 && (nuls[0] == 0 && nuls[1]*4 >= half*3 || nuls[1] == 0 && nuls[0]*4 >= half*3) {
		return "UTF-16"
	}
	return ""
}

func invalidUTF8(src []byte) int {
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// refuseJSON refuses HCL's JSON syntax, by file name or by the first character.
func refuseJSON(name string, text []byte) hcl.Diagnostics {
	rest := bytes.TrimLeft(text, " \t\n")
	if strings.ToLower(path.Ext(name)) != ".json" && !bytes.HasPrefix(rest, []byte("{")) {
		return nil
	}
	at := min(len(text)-len(rest), len(text)-1)
	return hcl.Diagnostics{newLocator(name, text).byteFault(at, "JSON syntax refused",
		"A recipe is written in HCL's native syntax. Its JSON syntax cannot keep the order of blocks "+
			"of different types, and order is the meaning of a recipe.")}
}

func startFault(name, summary, detail string) *hcl.Diagnostic {
	return fault(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, summary, detail)
}

// byteFault is a fault about the one byte or character at an offset.
func (l *locator) byteFault(at int, summary, detail string) *hcl.Diagnostic {
	_, size := utf8.DecodeRune(l.text[at:])
	start := l.pos(at)
	end := hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: at + size}
	return fault(hcl.Range{Filename: l.name, Start: start, End: end}, summary, detail)
}
