package eval

// place says where an expression stands, and so what may be used in it. A
// later one may use everything that an earlier one may.
type place int

const (
	placeConstant place = iota // defaults and the header: pure functions
	placeIdentity              // the fingerprint: variables
	placeName                  // owned names, when, for_each: locals, facts, ownership(), each, self
	placeValue                 // everything else: look-ups and what earlier steps export
)

// nature says what a value of this place depends on, for messages.
func (p place) nature() string {
	switch p {
	case placeConstant:
		return "constants"
	case placeIdentity:
		return "variables"
	case placeName:
		return "facts of the host"
	}
	return "look-ups or earlier steps"
}

// allowed says what may be used at the place, for messages.
func (p place) allowed() string {
	switch p {
	case placeConstant:
		return "constants and pure functions"
	case placeIdentity:
		return "variables and pure functions"
	case placeName:
		return "variables, locals, facts of the host, ownership() and pure functions"
	}
	return "everything"
}

// reason says why the place may not use more.
func (p place) reason() string {
	switch p {
	case placeConstant:
		return "It is read before anything is known."
	case placeIdentity:
		return "What makes an installation itself must not depend on the host."
	}
	return "What a recipe owns must not change with what is found on the host."
}
