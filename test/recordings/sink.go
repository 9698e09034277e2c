// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// server is the scripted model and the OTLP sink of one run, on one loopback port.
type server struct {
	http *http.Server
	port int

	mu      sync.Mutex
	traces  ptrace.Traces
	logs    plog.Logs
	unknown []string // paths that nothing here serves
	failed  error
}

func newServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{port: listener.Addr().(*net.TCPAddr).Port, traces: ptrace.NewTraces(), logs: plog.NewLogs()}
	s.http = &http.Server{Handler: s} //nolint:gosec // it serves one child process, on loopback
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

func (s *server) close() { _ = s.http.Close() }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Date"] = nil // some instrumentations record it
	var err error
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/v1/traces"):
		err = s.receiveTraces(w, r)
	case strings.HasSuffix(path, "/v1/logs"):
		err = s.receiveLogs(w, r)
	case strings.HasSuffix(path, "/v1/metrics"):
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	case serveModel(w, r):
	default:
		s.mu.Lock()
		s.unknown = append(s.unknown, r.Method+" "+path)
		s.mu.Unlock()
		http.NotFound(w, r)
	}
	if err != nil {
		s.mu.Lock()
		s.failed = errors.Join(s.failed, fmt.Errorf("%s: %w", r.URL.Path, err))
		s.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *server) receiveTraces(w http.ResponseWriter, r *http.Request) error {
	request := ptraceotlp.NewExportRequest()
	isJSON, err := receive(r, request.UnmarshalProto, request.UnmarshalJSON)
	if err != nil {
		return err
	}
	s.mu.Lock()
	request.Traces().ResourceSpans().MoveAndAppendTo(s.traces.ResourceSpans())
	s.mu.Unlock()
	return accept(w, isJSON)
}

func (s *server) receiveLogs(w http.ResponseWriter, r *http.Request) error {
	request := plogotlp.NewExportRequest()
	isJSON, err := receive(r, request.UnmarshalProto, request.UnmarshalJSON)
	if err != nil {
		return err
	}
	s.mu.Lock()
	request.Logs().ResourceLogs().MoveAndAppendTo(s.logs.ResourceLogs())
	s.mu.Unlock()
	return accept(w, isJSON)
}

func receive(r *http.Request, proto, json func([]byte) error) (isJSON bool, err error) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		if in, err = gzip.NewReader(in); err != nil {
			return false, err
		}
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return false, err
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return true, json(body)
	}
	return false, proto(body)
}

func accept(w http.ResponseWriter, isJSON bool) error {
	if !isJSON {
		w.Header().Set("Content-Type", "application/x-protobuf")
		return nil // an empty message
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, "{}")
	return err
}
