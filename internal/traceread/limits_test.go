// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lengths and windows that are beyond what there may be are refused before anything
// is kept for them.
func TestSizesThatCannotBe(t *testing.T) {
	frame := func(length uint32) []byte {
		return append(binary.BigEndian.AppendUint32(nil, length), resourceSpansTag, 0)
	}
	part := protoOf(t, sample(1))
	window := func(log byte) []byte { // of a zstd frame with one empty block
		return append(append([]byte{}, zstdMagic...), 0, (log-10)<<3, 1, 0, 0)
	}
	for name, tt := range map[string]struct {
		in   []byte
		want []string
	}{
		"a message of 2 GiB":          {append(frame(2), frame(maxRequest+1)...), []string{"in: message 2 breaks off"}},
		"a field of more than 2 GiB":  {append(part, binary.AppendUvarint([]byte{resourceSpansTag}, maxRequest+1)...), []string{fmt.Sprintf("in: broken protobuf at byte %d: a length that cannot be", len(part))}},
		"a window of 128 MiB":         {window(27), nil},
		"a window of more than that":  {window(28), []string{"in: window size exceeded"}},
		"a window of more than there": {window(41), []string{"in: window size exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, broken := readAll(t, tt.in, 1, longLine)
			require.Equal(t, tt.want, broken)
		})
	}
}

// A value may take so much at least, whatever the memory.
func TestLeastValue(t *testing.T) {
	require.Equal(t, minValue, (&Handler{MaxValue: 1}).maxValue())
	require.Equal(t, minValue+1, (&Handler{MaxValue: minValue + 1}).maxValue())
	require.Equal(t, maxRequest, (&Handler{}).maxValue())
	require.Equal(t, maxRequest, (&Handler{MaxValue: 1 << 40}).maxValue())
}
