package host

// Unknowable is offered, by type assertion, by the Files of a shadow: it lets
// a step say that it would put something at a path whose content cannot be
// foreseen, for example the tree of an image that was not pulled.
//
//	if u, ok := h.Files.(host.Unknowable); ok {
//		u.MarkUnknown(root, "image "+ref+" is not unpacked yet")
//		return nil
//	}
type Unknowable interface {
	// MarkUnknown puts something unknown at path, with the parents it needs.
	// From then on every read at or below path is an *UnknownError with the
	// cause, but for what is written there afterwards; writes below it are
	// accepted. Removing the path, or a directory above it, ends that. cause
	// completes "unknown: …".
	MarkUnknown(path, cause string)
}
