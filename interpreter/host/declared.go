package host

// DeclaresImageManaged says that a system says of itself that its software
// comes with the image, so that no package is ever installed on it. A system
// whose /usr turns out to be read-only is image-managed without saying so.
func (r OSRelease) DeclaresImageManaged() bool {
	for _, d := range imageManagedSystems() {
		if d.matches(r) {
			return true
		}
	}
	return false
}
