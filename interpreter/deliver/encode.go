package deliver

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
)

// encoded is a content as text: the shorter of plain and gzip, in base64.
type encoded struct {
	text    string
	gzipped bool
}

// gzipCost is what saying "gzip" costs in any of the formats, in bytes.
const gzipCost = 32

func encode(content []byte) encoded {
	small := compress(content)
	if len(small)+gzipCost < len(content) {
		return encoded{base64.StdEncoding.EncodeToString(small), true}
	}
	return encoded{base64.StdEncoding.EncodeToString(content), false}
}

// compress is gzip without name and time: the same content gives the same
// bytes.
func compress(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
