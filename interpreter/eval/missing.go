package eval

import "github.com/hashicorp/hcl/v2"

// Missing reports required variables without a value. Sensitive ones are needed
// only where they must be written, and are left out. Where the inputs are
// faulty it says what is missing beside that: nothing about a variable whose
// value was refused, and nothing at all when a file could not be read, in which
// the value may stand.
func (r *Recipe) Missing(in Inputs) hcl.Diagnostics {
	var f faults
	for _, v := range r.variables {
		if !v.Required || v.Sensitive || in.unread || in.refused[v.Name] || in.Given(v.Name) {
			continue
		}
		f.errorf(v.Range, "No value for variable", "The variable %q has no default. Give it a value: --var %s=…, an inputs file, or %s%s in the environment.%s",
			v.Name, v.Name, EnvironmentPrefix, v.Name, sentence(v.Description))
	}
	return f.list
}
