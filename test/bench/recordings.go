// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// recording is what an instrumentation sent while an agent answered a customer: OTLP
// JSON, a request a line.
type recording struct {
	name  string
	lines [][]byte
}

// recordings are those of many instrumentations, which are not part of the repository,
// or the one that is.
func recordings() ([]recording, error) {
	shared := cmp.Or(os.Getenv("RESULTSEAL_SHARED"), filepath.Join(root, "..", "shared"))
	files, err := filepath.Glob(filepath.Join(shared, "traces", "sdk", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		files = []string{filepath.Join(root, "testdata", "quickstart", "support.jsonl")}
	}
	var out []recording
	for _, file := range files {
		if strings.HasSuffix(file, ".logs.jsonl") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r := recording{name: strings.TrimSuffix(filepath.Base(file), ".jsonl")}
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				r.lines = append(r.lines, line)
			}
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, errors.New("there are no recordings")
	}
	return out, nil
}

func (r *recording) traces() ([]ptrace.Traces, error) {
	var unmarshal ptrace.JSONUnmarshaler
	var out []ptrace.Traces
	for _, line := range r.lines {
		td, err := unmarshal.UnmarshalTraces(line)
		if err != nil {
			return nil, err
		}
		out = append(out, td)
	}
	return out, nil
}
