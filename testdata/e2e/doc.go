// Package e2e tests the hostler program on booted hosts of the lab
// ([hostler/testdata/lab]): what a user does, on a real systemd. Its tests
// have the build tag e2e; make e2e runs them.
package e2e
