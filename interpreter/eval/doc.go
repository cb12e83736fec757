// Package eval turns a recipe and its inputs into the ordered list of steps,
// once.
//
// [Load] reads a recipe and the recipes it uses, and checks everything that
// the text alone can tell: structure, names, references and what may be used
// where. [Recipe.Inputs] brings the values that were given to the types that
// the recipe declares. [Recipe.Validate] evaluates with everything unknown
// that only a host can tell; [Recipe.Evaluate] evaluates for one host and
// returns a [Program]: the steps in the order in which they run.
//
// Every expression stands at a place, and the place says what may be used
// there (the table in the language reference): the fingerprint may use
// variables only; names of owned things, when and for_each may use facts of
// the host too; everything else may also use look-ups and what earlier steps
// export. A host-dependent answer can therefore never change what is owned.
//
// Sensitive values carry a mark. It is taken off at one boundary, reveal,
// where the value goes into a step's arguments and the step's plain data gets
// a hole instead.
//
// Faults are diagnostics with a short summary, what to do, and a tight range;
// one run reports as many as it can. Bad input never panics.
package eval
