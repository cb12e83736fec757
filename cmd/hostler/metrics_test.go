package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMetricsSocket: metrics are served on a socket for root alone; one that was
// left is replaced, and anything else is not.
func TestMetricsSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.sock")
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	stop, err := serveMetrics(path, handler)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	res, err := client.Get("http://hostler/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != "up 1\n" {
		t.Errorf("%q, %v", body, err)
	}
	res.Body.Close()
	client.CloseIdleConnections()
	stop()
	if exists(path) {
		t.Error("the socket is left")
	}

	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serveMetrics(path, handler); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Error(err)
	}
	if _, err := serveMetrics(filepath.Join(path, "below"), handler); err == nil {
		t.Error("a file is a directory")
	}
	if stop, err := serveMetrics("", handler); err != nil {
		t.Error(err)
	} else {
		stop()
	}
}
