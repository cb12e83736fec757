package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"hostler/interpreter/host"
)

// Key is the installation's key for hashes of sensitive bytes.
type Key []byte

// Keyed is "keyed:HEX", the keyed hash of a digest.
func (k Key) Keyed(digest string) string {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(digest))
	return "keyed:" + hex.EncodeToString(mac.Sum(nil))
}

// MintID returns a new installation id.
func (s *Store) MintID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.rand, b[:]); err != nil {
		return "", fmt.Errorf("mint an installation id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// Key reads the installation's key, or mints one in memory when there is
// none; SaveKey makes that durable.
func (s *Store) Key() (Key, error) {
	data, err := readPrivate(s.host.Files, KeyFile)
	if err == nil && len(data) == 32 {
		return data, nil
	}
	if err == nil {
		return nil, fmt.Errorf("%s is damaged: it must hold 32 bytes", KeyFile)
	}
	if !host.Absent(err) {
		return nil, fmt.Errorf("read %s: %w", KeyFile, err)
	}
	key := make(Key, 32)
	if _, err := io.ReadFull(s.rand, key); err != nil {
		return nil, fmt.Errorf("mint a key: %w", err)
	}
	return key, nil
}

// SaveKey writes the key durably; one that is there already is kept.
func (s *Store) SaveKey(k Key) error {
	if _, err := host.Lstat(s.host.Files, KeyFile); err == nil {
		return nil
	}
	if err := s.prepare(Dir); err != nil {
		return err
	}
	return s.replace(KeyFile, k)
}
