// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // exporters compress with it
)

// relay is the collectors' backend. It notes how many spans of which traces
// come, and passes them on to Jaeger where there is one.
type relay struct {
	ptraceotlp.UnimplementedGRPCServer
	port int
	next ptraceotlp.GRPCClient // nil if there is no Jaeger

	mu    sync.Mutex
	spans map[pcommon.TraceID]int
	text  bytes.Buffer // all that came, as JSON
}

func startRelay(t *testing.T, jaeger int) *relay {
	t.Helper()
	r := &relay{spans: map[pcommon.TraceID]int{}}
	if jaeger != 0 {
		conn, err := grpc.NewClient(address(jaeger), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		r.next = ptraceotlp.NewGRPCClient(conn)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.port = listener.Addr().(*net.TCPAddr).Port
	server := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, r)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return r
}

func (r *relay) Export(ctx context.Context, request ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	if r.next != nil {
		if _, err := r.next.Export(ctx, request); err != nil {
			return ptraceotlp.ExportResponse{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, td := range byTrace(request.Traces()) {
		r.spans[id] += td.SpanCount()
	}
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(request.Traces())
	r.text.Write(text)
	return ptraceotlp.NewExportResponse(), err
}

// contains says whether a text came, in whatever part of a span.
func (r *relay) contains(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(r.text.Bytes(), []byte(text))
}

// got is how many spans came, by trace.
func (r *relay) got() map[pcommon.TraceID]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[pcommon.TraceID]int, len(r.spans))
	for id, n := range r.spans {
		out[id] = n
	}
	return out
}

// pager takes what Alertmanager tells the on-call person.
type pager struct {
	url string

	mu   sync.Mutex
	told []map[string]string // labels
}

func startPager(t *testing.T) *pager {
	t.Helper()
	p := &pager{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var message struct {
			Alerts []struct {
				Labels map[string]string `json:"labels"`
			} `json:"alerts"`
		}
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = json.Unmarshal(body, &message)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, a := range message.Alerts {
			p.told = append(p.told, a.Labels)
		}
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *pager) alerts() []map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]map[string]string(nil), p.told...)
}
