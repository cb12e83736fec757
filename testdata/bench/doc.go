// Package bench measures the whole program on booted hosts of the lab
// ([hostler/testdata/lab]): what it costs to find that nothing is to be done.
// It has the build tag e2e; make bench runs it.
package bench
