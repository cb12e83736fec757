package block

import "time"

// Telling is a Step that does nothing to the host: it says where the status of
// runs is told. Sinks are looked for once a run is admitted.
type Telling interface {
	// Tells says where. Sensitive values that are not stored are left out.
	Tells() Sink
}

// Sink is one place where the status of runs is told. Exactly one of the
// pointers is set.
type Sink struct {
	// Label is that of the block.
	Label string
	// Timeout is the most that telling may delay the end of a run.
	Timeout    time.Duration
	Webhook    *WebhookSink
	Kubernetes *KubernetesSink
	File       *FileSink
	Console    *ConsoleSink
	KVP        *KVPSink
	Metrics    *MetricsSink
}

// Network says whether telling it needs the network.
func (s Sink) Network() bool { return s.Webhook != nil || s.Kubernetes != nil }

// Volatile says whether all that telling it writes is below /run.
func (s Sink) Volatile() bool { return s.File != nil || s.Metrics != nil }

// SinkAccess is what a server is asked with. The files are read when they are
// needed; until a token file is there the sink waits.
type SinkAccess struct {
	Token, TokenFile string
	// CA is PEM; without it and CAFile the system's authorities are trusted.
	CA, CAFile string
}

// WebhookSink gets each status as a JSON document by POST.
type WebhookSink struct {
	URL string
	SinkAccess
}

// KubernetesSink is a condition of an object of a Kubernetes API server.
type KubernetesSink struct {
	// Server is the server's URL and Object the object's path on it.
	Server, Object string
	Condition      string
	// Create is the object as JSON, made when it is not there; "" for never.
	Create string
	SinkAccess
}

// FileSink is a file below /run that holds the last status as JSON.
type FileSink struct{ Path string }

// ConsoleSink is a terminal that gets a line.
type ConsoleSink struct{ Device string }

// KVPSink is a key of a pool that Hyper-V hands to the host.
type KVPSink struct{ Pool, Key string }

// MetricsSink is a directory below /run for a textfile collector.
type MetricsSink struct{ Directory string }
