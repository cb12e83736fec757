package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// KVP is the status as a value of the pool: fields with bars between them, as
// provisioning agents report on Azure. It is cut to what Azure reads.
func (s Status) KVP() string {
	var fields []string
	add := func(name, value string) {
		if value = strings.ReplaceAll(plain(value), "|", "/"); value != "" {
			fields = append(fields, name+"="+value)
		}
	}
	add("result", string(s.Result))
	add("reason", s.Reason)
	add("recipe", s.Recipe)
	add("stage", s.Stage)
	add("step", s.Step)
	add("timestamp", s.Time.UTC().Format(time.RFC3339))
	head := strings.Join(fields, "|")
	fields = nil
	add("advice", clip(s.Advice, 300))
	advice := strings.Join(fields, "|")
	fields = nil
	// The cause is what may be long: it is cut so that the advice has room.
	add("cause", clip(s.Cause, max(0, kvpRead-len(head)-len(advice)-len("|cause=|"))))
	for _, more := range append(fields, advice) {
		if more != "" {
			head += "|" + more
		}
	}
	return clip(head, kvpRead)
}

// kvpRecord is one record of a pool.
func kvpRecord(key, value string) []byte {
	record := make([]byte, kvpKey+kvpValue)
	copy(record[:kvpKey-1], key)
	copy(record[kvpKey:len(record)-1], value)
	return record
}

// slot is where the record of a key stands, if it is found.
func slot(pool io.ReaderAt, key string) (at int64, found bool, err error) {
	const size = kvpKey + kvpValue
	record := make([]byte, size)
	for ; ; at += size {
		n, err := pool.ReadAt(record, at)
		switch {
		case n == 0 && errors.Is(err, io.EOF):
			return 0, false, nil
		case n < size && errors.Is(err, io.EOF):
			return 0, false, fmt.Errorf("the pool is damaged: %d bytes stand behind its last record", n)
		case n < size:
			return 0, false, err
		}
		if name, _, _ := bytes.Cut(record[:kvpKey], []byte{0}); string(name) == key {
			return at, true, nil
		}
	}
}
