package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"
)

// How long a client may take with a request, and an answer at the end of the
// program.
const (
	metricsRead = 10 * time.Second
	metricsStop = 2 * time.Second
)

// serveMetrics serves on a unix socket, for root alone, until stop is called. A
// socket that an earlier daemon left is replaced; anything else is not. Without
// a path nothing is served.
func serveMetrics(path string, handler http.Handler) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("--metrics-socket: %s is there and is no socket; give another path", path)
	case err == nil:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("--metrics-socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: handler, ReadTimeout: metricsRead}
	go func() { _ = server.Serve(l) }() // it ends with stop
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), metricsStop)
		defer cancel()
		_ = server.Shutdown(ctx)
	}, nil
}
