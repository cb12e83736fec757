package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"hostler/interpreter/block"
)

// condition tells a status as a condition of an object.
type condition struct {
	door Door
	sink block.KubernetesSink
	// made says that the object was looked for and is there.
	made bool
}

// object is what is read of an object. Conditions of others are kept as they
// are.
type object struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
		Generation      int64  `json:"generation"`
	} `json:"metadata"`
	Status struct {
		Conditions []map[string]any `json:"conditions"`
	} `json:"status"`
}

// tell reads the object and patches its conditions. The patch names the
// version that was read, so that what others change in between is not lost: the
// server then refuses it and it is tried again.
func (c *condition) tell(ctx context.Context, s Status) error {
	o, err := c.get(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": o.Metadata.ResourceVersion},
		"status":   map[string]any{"conditions": c.with(o, s)},
	})
	if err != nil {
		return err
	}
	_, err = c.ask(ctx, http.MethodPatch, c.sink.Object+"/status", "application/merge-patch+json", body)
	return err
}

// get reads the object. One that is not there is made, where the recipe says how;
// else it is waited for: a node registers itself when the last step is done.
func (c *condition) get(ctx context.Context) (*object, error) {
	data, err := c.ask(ctx, http.MethodGet, c.sink.Object, "application/json", nil)
	if failed, ok := errors.AsType[*answerError](err); ok && failed.Status == http.StatusNotFound && !c.made {
		if c.sink.Create == "" {
			return nil, passing{err}
		}
		data, err = c.ask(ctx, http.MethodPost, path.Dir(c.sink.Object), "application/json", []byte(c.sink.Create))
	}
	if err != nil {
		return nil, err
	}
	c.made = true
	o := &object{}
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("%s is no object: %w", c.sink.Object, err)
	}
	return o, nil
}

func (c *condition) ask(ctx context.Context, method, where, kind string, body []byte) ([]byte, error) {
	answer, _, err := c.door.ask(ctx, c.sink.SinkAccess, ask{method: method, url: c.sink.Server + where, kind: kind, body: body})
	if err != nil {
		err = fmt.Errorf("%s: %w", where, err)
	}
	return answer, err
}

// with are the conditions of an object with ours brought up to date.
func (c *condition) with(o *object, s Status) []map[string]any {
	now := s.Time.UTC().Format(time.RFC3339)
	ours := map[string]any{
		"type": c.sink.Condition, "status": conditionStatus(s), "reason": s.Reason, "message": s.Message(),
		"lastTransitionTime": now,
	}
	if o.Metadata.Generation > 0 {
		ours["observedGeneration"] = o.Metadata.Generation
	}
	all := []map[string]any{}
	for _, other := range o.Status.Conditions {
		if other["type"] != c.sink.Condition {
			all = append(all, other)
			continue
		}
		if since, ok := other["lastTransitionTime"].(string); ok && other["status"] == ours["status"] {
			ours["lastTransitionTime"] = since
		}
	}
	return append(all, ours)
}

// conditionStatus is whether the host is as its recipe says: after a reset it is
// not any more.
func conditionStatus(s Status) string {
	switch {
	case s.Result == OK && s.Phase != "absent":
		return "True"
	case s.Result == OK || s.Result == Failed:
		return "False"
	}
	return "Unknown"
}
