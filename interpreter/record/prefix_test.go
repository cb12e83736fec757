package record_test

import (
	"context"
	"strings"
	"testing"

	"hostler/interpreter/record"
)

// R012, R014, R015: the record carries a prefix off the default as an optional
// field of the same schema, and one without it means the default.
func TestR012R014R015PrefixInTheRecord(t *testing.T) {
	ctx := context.Background()
	store, h, _ := newStore(t)
	r := sample()
	r.Prefix = "/opt/demo"
	if err := store.Save(ctx, r); err != nil {
		t.Fatal(err)
	}
	text := get(t, h, record.File)
	if !strings.Contains(text, `"prefix": "/opt/demo"`) || !strings.Contains(text, `"schema_version": 1`) {
		t.Errorf("R012, R015: %s", text)
	}
	loaded, err := store.Load(ctx)
	if err != nil || loaded.Prefix != "/opt/demo" {
		t.Errorf("R012: %q (%v)", loaded.Prefix, err)
	}
	put(t, h, record.File, strings.Replace(text, "  \"prefix\": \"/opt/demo\",\n", "", 1))
	loaded, err = store.Load(ctx)
	if err != nil || loaded.Prefix != "" {
		t.Fatalf("R014: %+v (%v)", loaded, err)
	}
	given := &record.Identity{Recipe: "worker", Fingerprint: "v1:sha256:aa"}
	if got, err := record.Admit(record.Apply, loaded, nil, given, nil); err != nil || got.Course != record.Continue {
		t.Errorf("R014: the default is another identity: %+v, %v", got, err)
	}
}
