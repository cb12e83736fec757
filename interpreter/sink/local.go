package sink

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// fileTeller writes the last status to a file.
func fileTeller(door Door, to block.FileSink) telling {
	return func(_ context.Context, s Status) error {
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return err
		}
		return door.publish(to.Path, append(data, '\n'))
	}
}

// publish writes a file that everybody may read.
func (d Door) publish(name string, data []byte) error {
	if err := host.MakeParents(d.Files, name, 0o755); err != nil {
		return err
	}
	return host.Replace(d.Files, name, host.Content{Bytes: data, Mode: 0o644})
}

// metricsTeller writes the metrics of a run when it has ended.
func metricsTeller(door Door, to block.MetricsSink) telling {
	return func(_ context.Context, s Status) error {
		if s.Metrics == nil {
			return nil
		}
		return door.publish(path.Join(to.Directory, "hostler.prom"), s.Metrics.Text())
	}
}

// consoleTeller writes a line when a run begins, fails or has changed
// something. It does not wait for a terminal that takes nothing.
func consoleTeller(door Door, to block.ConsoleSink) telling {
	began := false
	return func(_ context.Context, s Status) error {
		if s.Result == Running && began {
			return nil
		}
		began = true
		f, err := door.Files.OpenFile(to.Device, syscall.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(s.Line() + "\r\n")
		if closing := f.Close(); err == nil {
			err = closing
		}
		return err
	}
}

// The sizes of a record of the pool, in bytes: a key and a value, each filled
// up with NUL (struct kvp_record of the kernel's hv_kvp_daemon), and the most of a
// value that Azure reads.
const (
	kvpKey   = 512
	kvpValue = 2048
	kvpRead  = 1022
)

// kvpTeller puts the status into a pool of key-value pairs. Where there is no
// pool, there is nobody to read it.
func kvpTeller(door Door, to block.KVPSink) telling {
	return func(_ context.Context, s Status) error {
		f, err := door.Files.OpenFile(to.Pool, syscall.O_RDWR, 0)
		if host.Absent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		record := kvpRecord(to.Key, s.KVP())
		at, found, err := slot(f, to.Key)
		switch {
		case err == nil && found:
			_, err = f.WriteAt(record, at)
		case err == nil:
			err = door.add(to.Pool, record)
		}
		return errors.Join(err, f.Close())
	}
}

// add writes behind the end of a file, wherever that is by now: at a first boot
// others report into the pool too.
func (d Door) add(name string, record []byte) error {
	f, err := d.Files.OpenFile(name, syscall.O_WRONLY|syscall.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(record)
	return errors.Join(err, f.Close())
}
