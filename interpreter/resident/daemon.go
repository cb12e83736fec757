package resident

// StoodDown is the exit status of a daemon that does nothing because an
// installation is not finished.
const StoodDown = 69
