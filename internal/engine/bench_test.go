// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue/jsonvaluetest"
)

// benchmarkNow is the clock of tests that need any clock.
var benchmarkNow = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

// canonicalResult is the same in canonical form.
func canonicalResult(size int) string {
	v, err := jsonvalue.Parse(jsonvaluetest.Result(size))
	if err != nil {
		panic(err)
	}
	text, err := v.AppendCanonical(nil)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func textResult(size int) string {
	return strings.Repeat("The order was found and is on its way. ", size/39+1)[:size]
}

// mcpTextResult is a JSON result as the Model Context Protocol returns it as a text.
func mcpTextResult(size int) string {
	return `{"content":[{"type":"text","text":` + string(jsonvalue.AppendString(nil, jsonvaluetest.Result(size))) + `}],"isError":false}`
}

// sealText parses a result and seals it, as a collector does for every result.
func sealText(c *Contract, in *Input, text string, now time.Time) (Record, error) {
	if in.Kind == KindJSON || in.Kind == KindMCP {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return Record{}, err
		}
		in.Body = v
	} else {
		in.Body = jsonvalue.String(text)
	}
	r, err := in.Read()
	if err != nil {
		return Record{}, err
	}
	env, err := in.Envelope(r, now)
	if err != nil {
		return Record{}, err
	}
	return NewRecord(c, &env, c.Evaluate(&env, r.Payload, now), nil)
}

func benchmarkContract(fields ...string) *Contract {
	return &Contract{
		SchemaVersion:  "1",
		ClaimType:      ClaimFound,
		RequiredFields: fields,
		Freshness:      Freshness{Mode: FreshnessNotRequired},
		SourceRef:      "crm://customers",
		TargetRef:      "customer:42",
	}
}

func benchmarkInput(kind InputKind) *Input {
	return &Input{
		Kind: kind, ToolName: "get_customer", ToolCallID: "call_1", ObservationID: "obs_1",
		SourceRef: "crm://customers", TargetRef: "customer:42", ObservedAt: "2026-08-21T12:00:00Z",
	}
}

var benchmarkSizes = []int{128, 512, 4 << 10, 64 << 10}

// BenchmarkSeal measures parsing and sealing a result beside the SHA-256 of the
// same bytes, without which nothing can be sealed.
func BenchmarkSeal(b *testing.B) {
	for _, size := range benchmarkSizes {
		for _, shape := range []struct {
			name string
			kind InputKind
			text string
			c    *Contract
		}{
			{"json", KindJSON, jsonvaluetest.Result(size), benchmarkContract("customer_id", "name", "items")},
			{"canonical", KindJSON, canonicalResult(size), benchmarkContract("customer_id", "name", "items")},
			{"untidy", KindJSON, jsonvaluetest.UntidyResult(size), benchmarkContract("customer_id", "name", "items")},
			{"text", KindText, textResult(size), benchmarkContract()},
			{"mcp", KindMCP, mcpTextResult(size), benchmarkContract()},
		} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, size), func(b *testing.B) {
				in := benchmarkInput(shape.kind)
				record, err := sealText(shape.c, in, shape.text, benchmarkNow)
				require.NoError(b, err)
				require.Equal(b, Sealed, record.Decision)
				b.SetBytes(int64(len(shape.text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := sealText(shape.c, in, shape.text, benchmarkNow); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("sha256/%d", size), func(b *testing.B) {
			data := []byte(jsonvaluetest.Result(size))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				sha256.Sum256(data)
			}
		})
	}
}

// TestAllocations holds sealing to a budget of allocations, which unlike times
// are the same on every machine.
func TestAllocations(t *testing.T) {
	for _, tc := range []struct {
		name   string
		kind   InputKind
		text   string
		fields []string
		budget float64
	}{
		{"json 512 B", KindJSON, jsonvaluetest.Result(512), []string{"customer_id", "name", "items"}, 4},
		{"json 64 KiB", KindJSON, jsonvaluetest.Result(64 << 10), []string{"customer_id", "name", "items"}, 4},
		{"canonical 64 KiB", KindJSON, canonicalResult(64 << 10), []string{"customer_id", "name", "items"}, 4},
		{"untidy 64 KiB", KindJSON, jsonvaluetest.UntidyResult(64 << 10), []string{"customer_id", "name", "items"}, 4},
		{"text 512 B", KindText, textResult(512), nil, 2},
		{"text 64 KiB", KindText, textResult(64 << 10), nil, 2},
		{"mcp structured 512 B", KindMCP, `{"structuredContent":` + jsonvaluetest.Result(512) + `}`, []string{"customer_id", "name", "items"}, 4},
		{"mcp structured 64 KiB", KindMCP, `{"structuredContent":` + jsonvaluetest.Result(64<<10) + `}`, []string{"customer_id", "name", "items"}, 4},
		{"mcp text 64 KiB", KindMCP, mcpTextResult(64 << 10), nil, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, in := benchmarkContract(tc.fields...), benchmarkInput(tc.kind)
			got := testing.AllocsPerRun(200, func() {
				if _, err := sealText(c, in, tc.text, benchmarkNow); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%.0f allocations", got)
			if raceEnabled {
				t.Skip("the race detector makes pools forget")
			}
			require.LessOrEqual(t, got, tc.budget)
		})
	}
}

// TestSealingRatio holds the time that sealing takes to a multiple of what the hash of
// the same bytes takes. Both are the fastest of many runs in turn, and the limits are
// more than twice what is measured on a quiet machine, so only a step that has become
// much slower shows.
func TestSealingRatio(t *testing.T) {
	if raceEnabled || testing.Short() || testing.CoverMode() != "" {
		t.Skip("a race detector or counters slow the one down more than the other")
	}
	for _, tc := range []struct {
		name  string
		text  func(int) string
		size  int
		limit float64
	}{
		{"json", jsonvaluetest.Result, 512, 17},
		{"json", jsonvaluetest.Result, 4 << 10, 14},
		{"json", jsonvaluetest.Result, 64 << 10, 14},
		{"untidy", jsonvaluetest.UntidyResult, 64 << 10, 13},
		{"canonical", canonicalResult, 64 << 10, 11},
	} {
		c, in, text := benchmarkContract("customer_id", "name", "items"), benchmarkInput(KindJSON), tc.text(tc.size)
		data := []byte(text)
		fastest := func(best time.Duration, f func()) time.Duration {
			start := time.Now()
			for range max(1, 4096/len(data)) {
				f()
			}
			return min(best, time.Since(start))
		}
		seal, hash := time.Hour, time.Hour
		for range 400 {
			seal = fastest(seal, func() {
				if _, err := sealText(c, in, text, benchmarkNow); err != nil {
					t.Fatal(err)
				}
			})
			hash = fastest(hash, func() { sha256.Sum256(data) })
		}
		ratio := float64(seal) / float64(hash)
		t.Logf("%s of %d bytes: %v, %.2f times the hash's %v", tc.name, len(text), seal, ratio, hash)
		require.Less(t, ratio, tc.limit)
	}
}
