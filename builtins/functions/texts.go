package functions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"

	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

const anEncoding = "The encoding by its IANA name."

// base64Gzip leaves time and name out of the header, so that nothing but the
// text counts.
func base64Gzip(args []string) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(args[0]))
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func encodingOf(name string) (encoding.Encoding, error) {
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil {
		return nil, function.NewArgErrorf(1, "is no encoding that is known here; write an IANA name such as \"UTF-16LE\" or \"ISO-8859-1\"")
	}
	return enc, nil
}

func textEncode(args []string) (string, error) {
	enc, err := encodingOf(args[1])
	if err != nil {
		return "", err
	}
	out, err := enc.NewEncoder().String(args[0])
	if err != nil {
		return "", function.NewArgErrorf(0, "has characters that %s cannot write", args[1])
	}
	return base64.StdEncoding.EncodeToString([]byte(out)), nil
}

func textDecode(args []string) (string, error) {
	enc, err := encodingOf(args[1])
	if err != nil {
		return "", err
	}
	data, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return "", function.NewArgErrorf(0, "is no base64: %v", err)
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", function.NewArgErrorf(0, "is no text in %s: %v", args[1], err)
	}
	return string(out), nil
}
