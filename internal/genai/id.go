// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// TraceID identifies a trace. Scoring knows no pdata, so ids and times have
// types of their own with the same representation.
type TraceID [16]byte

// String returns the id in lower-case hex.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// SpanID identifies a span of a trace.
type SpanID [8]byte

// String returns the id in lower-case hex.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// IsEmpty reports whether the id is all zeros, which is none.
func (id SpanID) IsEmpty() bool { return id == SpanID{} }

// MaxID is up to how many bytes an id or a name that outlives its trace is kept as
// it is, see [BoundedID].
const MaxID = 256

// BoundedID returns id, or, if it is longer than [MaxID], its beginning and a hash
// of all of it.
func BoundedID(id string) string {
	if len(id) <= MaxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToValidUTF8(id[:32], "") + "…" + hex.EncodeToString(sum[:16])
}

// Timestamp is a time in nanoseconds since the Unix epoch.
type Timestamp uint64

// Time returns the timestamp in UTC.
func (t Timestamp) Time() time.Time { return time.Unix(0, int64(t)).UTC() } //nolint:gosec // wraps as pdata's does

// Attribute returns an attribute of the span as a JSON value.
func (s *Span) Attribute(name string) (jsonvalue.Value, bool) { return attribute(s.attributes, name) }

// ResourceAttribute returns an attribute of the span's resource.
func (s *Span) ResourceAttribute(name string) (jsonvalue.Value, bool) {
	return attribute(s.resource, name)
}

func attribute(m pcommon.Map, name string) (jsonvalue.Value, bool) {
	if m == (pcommon.Map{}) {
		return jsonvalue.Null(), false
	}
	v, ok := m.Get(name)
	if !ok {
		return jsonvalue.Null(), false
	}
	return ValueOf(v), true
}

// Attributes returns how many attributes the span has, or had when it was
// decoded.
func (s *Span) Attributes() int {
	if s.detached > 0 {
		return s.detached
	}
	if s.attributes == (pcommon.Map{}) {
		return 0
	}
	return s.attributes.Len()
}
