package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"
)

// Serve answers HTTP on the lab's network until the test ends, and returns
// its address as hosts see it: "http://10.77.0.1:PORT".
func Serve(t testing.TB, handler http.Handler) (url string) {
	t.Helper()
	l, err := of(t).listen(0)
	if err != nil {
		t.Fatalf("lab: %v", err)
	}
	serveOn(t, l, handler)
	return "http://" + l.Addr().String()
}

// ServeTLS is Serve with https. Hosts that trust authority, a certificate in
// PEM, trust the server; SSL_CERT_FILE is one way for Go programs.
func ServeTLS(t testing.TB, handler http.Handler) (url string, authority []byte) {
	t.Helper()
	cert, authority, err := certificate(net.ParseIP(switchAddress))
	if err != nil {
		t.Fatalf("lab: making a certificate: %v", err)
	}
	l, err := of(t).listen(0)
	if err != nil {
		t.Fatalf("lab: %v", err)
	}
	serveOn(t, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}), handler)
	return "https://" + l.Addr().String(), authority
}

// serveOn serves until the test ends.
func serveOn(t testing.TB, l net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; err != http.ErrServerClosed {
			t.Errorf("lab: serving: %v", err)
		}
	})
}

// certificate makes a server's key and certificate, signed by itself.
func certificate(address net.IP) (cert tls.Certificate, authority []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"}, IPAddresses: []net.IP{address},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return cert, nil, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, authority, nil
}
