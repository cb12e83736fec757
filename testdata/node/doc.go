// Package node runs the shipped Kubernetes worker for real: etcd and
// kube-apiserver on the lab's network, a host that Ignition sets up, and in its
// machine containerd, runc and a kubelet that joins.
//
// The programs are built once by prepare, which takes about ten minutes when
// nothing is cached, so that the test is a target of its own: make e2e-node. It
// has the build tag e2e and needs root.
package node
