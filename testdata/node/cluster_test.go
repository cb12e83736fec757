//go:build e2e

package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// Where the control plane answers, and what it takes.
const (
	controlPlane   = "10.77.0.1"
	apiServer      = controlPlane + ":6443"
	adminToken     = "admin-token"
	bootstrapToken = "abcdef.0123456789abcdef"
	nodeName       = "node1"
)

var errNoRequest = errors.New("no certificate request")

// cluster is etcd and kube-apiserver on the lab's network. In the place of a
// controller manager it signs what kubelets ask for itself; pods say themselves
// which node they are for.
type cluster struct {
	t      *testing.T
	ca     *authority
	client *http.Client
}

// startCluster starts a control plane that ends with the test.
func startCluster(t *testing.T, programs string) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{t: t, ca: newAuthority(t, dir)}
	c.ca.issue("server", "kube-apiserver", nil, controlPlane, "10.96.0.1")
	c.ca.issue("kubelet-client", "kube-apiserver-kubelet-client", []string{"system:masters"})
	c.ca.serviceAccounts()
	if err := os.WriteFile(c.ca.path("tokens.csv"), []byte(adminToken+",admin,admin,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.client = &http.Client{Timeout: 30 * time.Second, Transport: c.transport()}
	lab.Start(t, "etcd", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", "http://"+controlPlane+":2379", "--advertise-client-urls", "http://"+controlPlane+":2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--unsafe-no-fsync", "--logger", "zap", "--log-level", "error")
	lab.Start(t, filepath.Join(programs, "kube-apiserver"), "--etcd-servers=http://"+controlPlane+":2379", "--bind-address="+controlPlane, "--advertise-address="+controlPlane, "--secure-port=6443",
		"--cert-dir="+dir, "--tls-cert-file="+c.ca.path("server.crt"), "--tls-private-key-file="+c.ca.path("server.key"), "--client-ca-file="+c.ca.path("ca.crt"),
		"--kubelet-client-certificate="+c.ca.path("kubelet-client.crt"), "--kubelet-client-key="+c.ca.path("kubelet-client.key"), "--kubelet-preferred-address-types=InternalIP",
		"--token-auth-file="+c.ca.path("tokens.csv"), "--enable-bootstrap-token-auth", "--watch-cache=false", "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--disable-admission-plugins=ServiceAccount", "--allow-privileged", "--service-account-issuer=https://lab", "--service-account-key-file="+c.ca.path("sa.key"),
		"--service-account-signing-key-file="+c.ca.path("sa.key"), "--service-cluster-ip-range=10.96.0.0/24")
	eventually(t, "the API server is ready", time.Minute, func() bool { return c.ask(http.MethodGet, "/readyz", nil, nil) == nil })
	c.admit()
	c.signRequests()
	return c
}

// transport speaks to the cluster from the lab's network.
func (c *cluster) transport() *http.Transport {
	pool := x509.NewCertPool()
	pool.AddCert(c.ca.cert)
	return &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DialContext:       func(_ context.Context, _, address string) (net.Conn, error) { return lab.Dial(c.t, address) },
		DisableKeepAlives: true,
	}
}

// object is any object of the API.
type object = map[string]any

// ask sends a request as admin; in and out are JSON, or nil, or *string for an
// answer as text.
func (c *cluster) ask(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, "https://"+apiServer+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	case out == nil:
		return nil
	}
	if s, ok := out.(*string); ok {
		*s = string(text)
		return nil
	}
	return json.Unmarshal(text, out)
}

func (c *cluster) must(method, path string, in, out any) {
	c.t.Helper()
	if err := c.ask(method, path, in, out); err != nil {
		c.t.Fatal(err)
	}
}

// admit lets nodes in by the bootstrap token, and lets who has it tell a condition
// of them.
func (c *cluster) admit() {
	c.t.Helper()
	id, secret, _ := strings.Cut(bootstrapToken, ".")
	eventually(c.t, "the namespace kube-system is there", time.Minute, func() bool { return c.ask(http.MethodGet, "/api/v1/namespaces/kube-system", nil, nil) == nil })
	c.must(http.MethodPost, "/api/v1/namespaces/kube-system/secrets", object{
		"metadata": object{"name": "bootstrap-token-" + id}, "type": "bootstrap.kubernetes.io/token",
		"stringData": object{"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:lab"},
	}, nil)
	c.must(http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", object{
		"metadata": object{"name": "tells-nodes"},
		"rules": []object{
			{"apiGroups": []string{""}, "resources": []string{"nodes"}, "verbs": []string{"get"}},
			{"apiGroups": []string{""}, "resources": []string{"nodes/status"}, "verbs": []string{"patch"}},
		},
	}, nil)
	for _, role := range []string{"system:node-bootstrapper", "tells-nodes"} {
		c.must(http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", object{
			"metadata": object{"name": "lab:" + role},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}},
		}, nil)
	}
}

// request is a certificate request of the API.
type request struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Metadata   object `json:"metadata"`
	Spec       struct {
		SignerName string   `json:"signerName"`
		Request    []byte   `json:"request"`
		Usages     []string `json:"usages"`
	} `json:"spec"`
	Status struct {
		Conditions  []object `json:"conditions,omitempty"`
		Certificate []byte   `json:"certificate,omitempty"`
	} `json:"status"`
}

// signRequests signs every request of a kubelet for its client certificate,
// until the test ends.
func (c *cluster) signRequests() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var list struct{ Items []request }
			if err := c.ask(http.MethodGet, requests, nil, &list); err == nil {
				for _, r := range list.Items {
					c.approve(r)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}()
	c.t.Cleanup(func() { cancel(); <-done })
}

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// approve signs a request that is new. What fails is tried again.
func (c *cluster) approve(r request) {
	if len(r.Status.Certificate) > 0 || r.Spec.SignerName != "kubernetes.io/kube-apiserver-client-kubelet" {
		return
	}
	path := requests + "/" + fmt.Sprint(r.Metadata["name"])
	r.Status.Conditions = []object{{"type": "Approved", "status": "True", "reason": "Lab", "message": "signed by the test"}}
	if err := c.ask(http.MethodPut, path+"/approval", r, &r); err != nil {
		return
	}
	var err error
	if r.Status.Certificate, err = c.ca.sign(r.Spec.Request); err == nil {
		_ = c.ask(http.MethodPut, path+"/status", r, nil)
	}
}

// eventually fails the test unless something comes true in time.
func eventually(t *testing.T, what string, limit time.Duration, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(250 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
