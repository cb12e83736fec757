package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"

	"github.com/zclconf/go-cty/cty/function"
)

// digest is a way to hash bytes and to write the result.
type digest struct {
	name  string
	doc   string
	new   func() hash.Hash
	write func([]byte) string
}

func digests() []digest {
	b64 := base64.StdEncoding.EncodeToString
	return []digest{
		{"md5", "the MD5 digest in hexadecimal; not for security", md5.New, hex.EncodeToString},
		{"sha1", "the SHA-1 digest in hexadecimal; not for security", sha1.New, hex.EncodeToString},
		{"sha256", "the SHA-256 digest in hexadecimal", sha256.New, hex.EncodeToString},
		{"sha512", "the SHA-512 digest in hexadecimal", sha512.New, hex.EncodeToString},
		{"base64sha256", "the SHA-256 digest in base64", sha256.New, b64},
		{"base64sha512", "the SHA-512 digest in base64", sha512.New, b64},
	}
}

func (d digest) of(data []byte) string {
	h := d.new()
	h.Write(data)
	return d.write(h.Sum(nil))
}

func hashFunctions() map[string]function.Function {
	out := map[string]function.Function{}
	for _, d := range digests() {
		out[d.name] = text(func(args []string) (string, error) { return d.of([]byte(args[0])), nil },
			"Returns "+d.doc+" of a text in UTF-8.", param("str", aText))
	}
	return out
}
