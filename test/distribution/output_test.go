// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// output reads the file that the collector's file exporter writes, while it
// grows.
type output struct {
	path   string
	format string
	offset int64
	spans  []record
}

// read returns all spans so far, in the order in which they were written.
func (o *output) read(t *testing.T) []record {
	t.Helper()
	f, err := os.Open(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Seek(o.offset, io.SeekStart)
	require.NoError(t, err)
	grown, err := io.ReadAll(f)
	require.NoError(t, err)
	for {
		message, size := o.next(grown)
		if size == 0 {
			return o.spans
		}
		var td ptrace.Traces
		if o.format == "proto" {
			td, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(message)
		} else {
			td, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(message)
		}
		require.NoError(t, err, "what the file exporter wrote")
		o.spans = append(o.spans, takeApart(td)...)
		grown = grown[size:]
		o.offset += int64(size)
	}
}

// next finds the first whole message: a line of JSON, or protobuf after its
// length in four bytes. size is 0 if there is none yet.
func (o *output) next(data []byte) (message []byte, size int) {
	if o.format != "proto" {
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return data[:end], end + 1
		}
		return nil, 0
	}
	if len(data) < 4 {
		return nil, 0
	}
	if size = 4 + int(binary.BigEndian.Uint32(data)); size > len(data) {
		return nil, 0
	}
	return data[4:size], size
}

// await waits until there are so many spans.
func (o *output) await(t *testing.T, spans int) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(o.read(t)) < spans; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d spans came out within %v", len(o.spans), spans, patience)
		}
	}
}
