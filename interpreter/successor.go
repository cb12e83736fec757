package interpreter

import (
	"context"
	"errors"
	"path"

	"hostler/interpreter/delivery"
	"hostler/interpreter/record"
)

// Successor is the installed program that a delivered one hands over to, "" if
// it goes on itself: it was not delivered, nothing is installed yet, or what is
// installed cannot be executed. A record that the delivered program cannot read,
// because a newer one wrote it, is a reason to hand over.
func (in *Interpreter) Successor(ctx context.Context, executable string) (string, error) {
	if !in.Host.Identity.Live || !delivery.MayBeDelivered(executable) {
		return "", nil
	}
	rec, err := record.NewStore(in.Host, in.Rand).Head(ctx)
	if errors.Is(err, record.ErrAbsent) {
		return "", nil
	}
	prefixes := []string{record.DefaultPrefix, path.Dir(path.Dir(executable))}
	if err == nil {
		prefixes = []string{record.DefaultPrefix}
		if rec.Prefix != "" {
			prefixes = []string{rec.Prefix}
		}
	}
	for _, prefix := range prefixes {
		if !delivery.IsDelivered(prefix, executable) {
			continue
		}
		current := delivery.Current(prefix)
		usable, err := delivery.Usable(in.Host.Files, current)
		if err != nil {
			return "", err
		}
		same, err := delivery.Leads(in.Host.Files, current, executable)
		if err != nil || usable && !same {
			return current, err
		}
	}
	return "", nil
}
