// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// makeCertificates makes an authority, and certificates for a server and for a
// client, and a client's certificate that the authority did not sign. It returns
// their folder.
func makeCertificates(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	save(t, dir, "ca", authority, authority, key, key)
	for i, name := range []string{"server", "client"} {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		save(t, dir, name, leaf(name, int64(i+2)), authority, own, key)
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	itself := leaf("stranger", 9)
	save(t, dir, "stranger", itself, itself, stranger, stranger)
	return dir
}

func leaf(name string, serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func save(t *testing.T, dir, name string, certificate, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write(t, filepath.Join(dir, name+".crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, filepath.Join(dir, name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// as is the TLS side of a client that shows a certificate, or none.
func as(t *testing.T, dir, name string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	out := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
	if name != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		require.NoError(t, err)
		// Not Certificates: a client leaves out what the server would not take.
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return out
}

// guarded is a backend behind TLS that wants a certificate and a token.
type guarded struct {
	ptraceotlp.UnimplementedGRPCServer
	got chan struct{}
}

func (g *guarded) Export(ctx context.Context, _ ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if tokens := md.Get("authorization"); len(tokens) != 1 || tokens[0] != "Bearer token-of-the-backend" {
		return ptraceotlp.ExportResponse{}, status.Error(codes.Unauthenticated, "no token")
	}
	g.got <- struct{}{}
	return ptraceotlp.NewExportResponse(), nil
}

// Only who shows a certificate of the authority can send, over either protocol;
// and the backend is sent to with a certificate and a token.
func TestTLS(t *testing.T) {
	binary := distribution(t)
	dir := makeCertificates(t)

	backend := &guarded{got: make(chan struct{}, 10)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	side := as(t, dir, "server")
	side.ClientCAs, side.ClientAuth = side.RootCAs, tls.RequireAndVerifyClientCert
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key"))
	require.NoError(t, err)
	side.Certificates = []tls.Certificate{pair}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(side)))
	ptraceotlp.RegisterGRPCServer(server, backend)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)

	p := ports(t, 5)
	c := run(t, "tls", binary, top, append(configured(dir),
		variable("RESULTSEAL_GRPC_PORT", p[0]), variable("RESULTSEAL_HTTP_PORT", p[1]),
		variable("RESULTSEAL_METRICS_PORT", p[2]), variable("RESULTSEAL_SPAN_METRICS_PORT", p[3]), variable("RESULTSEAL_HEALTH_PORT", p[4]),
		"RESULTSEAL_BACKEND="+listener.Addr().String(), "RESULTSEAL_BACKEND_TOKEN=token-of-the-backend",
		"RESULTSEAL_ROOT_DELAY=200ms", "RESULTSEAL_DECISION_WAIT=200ms", "RESULTSEAL_SAMPLE_PERCENT=100",
	), page(p[4], "/"),
		"--config", filepath.Join("deploy", "collector", "recommended.yaml"),
		"--config", filepath.Join("deploy", "collector", "tls.yaml"))

	request := func() ptraceotlp.ExportRequest {
		return ptraceotlp.NewExportRequestFromTraces(newMade("shop").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`).traces)
	}
	for _, test := range []struct {
		name, certificate string
		accepted          bool
	}{{"a certificate of the authority", "client", true}, {"no certificate", "", false}, {"a certificate of somebody else", "stranger", false}} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := grpc.NewClient(address(p[0]), grpc.WithTransportCredentials(credentials.NewTLS(as(t, dir, test.certificate))), grpc.WithNoProxy())
			require.NoError(t, err)
			defer conn.Close()
			_, err = ptraceotlp.NewGRPCClient(conn).Export(t.Context(), request())
			require.Equal(t, test.accepted, err == nil, "gRPC: %v", err)

			body, err := request().MarshalProto()
			require.NoError(t, err)
			message, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address(p[1])+"/v1/traces", bytes.NewReader(body))
			require.NoError(t, err)
			message.Header.Set("Content-Type", "application/x-protobuf")
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: as(t, dir, test.certificate)}, Timeout: patience}
			response, err := client.Do(message)
			if test.accepted {
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.Equal(t, http.StatusOK, response.StatusCode)
			} else {
				require.Error(t, err)
			}
		})
	}
	select {
	case <-backend.got:
	case <-time.After(patience):
		t.Fatal("nothing came to the backend")
	}
	c.stop(t)
}
