// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// observation is a case that a contract can be held against.
type observation struct {
	Contract Contract
	Input    Input
}

func versionText(n int) string { return "rev-" + strconv.Itoa(n) }

// observations are cases near to sealing, each with a few things amiss.
var observations = rapid.Custom(func(t *rapid.T) observation {
	claims := []ClaimType{ClaimFound, ClaimNotFound, ClaimReadComplete, ClaimEffectObserved, ClaimTaskComplete}
	amiss := func(what string) bool { return rapid.IntRange(0, 9).Draw(t, what) == 0 }
	sentinel := "NOT_FOUND"
	low := versionText(rapid.IntRange(1, 20).Draw(t, "least version"))
	c := Contract{
		SchemaVersion:          "1",
		ClaimType:              rapid.SampledFrom(claims).Draw(t, "claim"),
		RequiredFields:         rapid.SampledFrom([][]string{nil, {"id"}, {"id", "name"}}).Draw(t, "fields"),
		SourceRef:              "crm://customers",
		TargetRef:              "customer:42",
		EffectEvidenceRequired: rapid.Bool().Draw(t, "evidence required"),
	}
	if c.ClaimType == ClaimNotFound || amiss("stray sentinel") {
		c.NotFoundSentinel = &sentinel
		c.RequiredFields = nil
	}
	switch c.Freshness.Mode = rapid.SampledFrom([]FreshnessMode{FreshnessNotRequired, FreshnessSourceVersion, FreshnessMaxAge}).Draw(t, "mode"); c.Freshness.Mode {
	case FreshnessSourceVersion:
		c.MinSourceVersion = &low
	case FreshnessMaxAge:
		c.Freshness.MaxAgeSeconds = rapid.Int64Range(0, 100).Draw(t, "age limit")
	}
	payload := []jsonvalue.Member{{Key: "id", Value: jsonvalue.Int(42)}, {Key: "name", Value: jsonvalue.String("Ada")}}
	if c.NotFoundSentinel != nil {
		payload = append(payload, jsonvalue.Member{Key: "status", Value: jsonvalue.String(sentinel)})
	}
	for i := range payload {
		if amiss("missing") {
			payload = append(payload[:i], payload[i+1:]...)
			break
		}
	}
	version := versionText(rapid.IntRange(10, 30).Draw(t, "version"))
	age := time.Duration(rapid.IntRange(-1, 60).Draw(t, "age")) * time.Second
	in := Input{
		Kind:          KindJSON,
		SourceRef:     c.SourceRef,
		TargetRef:     c.TargetRef,
		Body:          jsonvalue.Object(payload...),
		SourceVersion: &version,
		EvidenceRefs:  []string{"delete-api:204"},
		ObservedAt:    benchmarkNow.Add(-age).Format(time.RFC3339Nano),
	}
	if amiss("target") {
		in.TargetRef = "customer:43"
	}
	if amiss("source") {
		in.SourceRef = "crm://archive"
	}
	if amiss("no evidence") {
		in.EvidenceRefs = nil
	}
	if amiss("no version") {
		in.SourceVersion = nil
	}
	if amiss("conflict") {
		in.Metadata = []jsonvalue.Member{{Key: "protocol_conflict", Value: jsonvalue.Bool(true)}}
	}
	return observation{c, in}
})

func (o observation) evaluate(t require.TestingT) Evaluation {
	require.NoError(t, o.Contract.Validate())
	r, err := o.Input.Read()
	require.NoError(t, err)
	env, err := o.Input.Envelope(r, benchmarkNow)
	require.NoError(t, err)
	return o.Contract.Evaluate(&env, r.Payload, benchmarkNow)
}

// TestLessEvidenceNeverSealsMore: whatever is taken from an observation, a claim
// that was blocked stays blocked.
func TestLessEvidenceNeverSealsMore(t *testing.T) {
	removals := map[string]func(t *rapid.T, o *observation){
		"evidence":  func(_ *rapid.T, o *observation) { o.Input.EvidenceRefs = nil },
		"version":   func(_ *rapid.T, o *observation) { o.Input.SourceVersion = nil },
		"body":      func(_ *rapid.T, o *observation) { o.Input.Body = jsonvalue.Null() },
		"transport": func(_ *rapid.T, o *observation) { o.Input.Kind, o.Input.StatusCode = KindHTTPJSON, 500 },
		"dispatch":  func(_ *rapid.T, o *observation) { o.Input.Kind = KindClaimOnly },
		"capture":   func(_ *rapid.T, o *observation) { o.Input.Gap = ReasonResultNotCaptured },
		"offset":    func(_ *rapid.T, o *observation) { o.Input.ObservedAt = strings.TrimSuffix(o.Input.ObservedAt, "Z") },
		"a field": func(t *rapid.T, o *observation) {
			n := o.Input.Body.Len()
			if n == 0 {
				return
			}
			drop := rapid.IntRange(0, n-1).Draw(t, "drop")
			var kept []jsonvalue.Member
			for i := range n {
				if key, v := o.Input.Body.Member(i); i != drop {
					kept = append(kept, jsonvalue.Member{Key: key, Value: v})
				}
			}
			o.Input.Body = jsonvalue.Object(kept...)
		},
	}
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				o := observations.Draw(t, "observation")
				before := o.evaluate(t)
				remove(t, &o)
				after := o.evaluate(t)
				if before.Decision == Blocked {
					require.Equal(t, Blocked, after.Decision, "%v, then %v", before, after)
				}
			})
		})
	}
}

// TestNoSealSurvivesAnotherTarget: nor another source.
func TestNoSealSurvivesAnotherTarget(t *testing.T) {
	sealed := 0
	rapid.Check(t, func(t *rapid.T) {
		o := observations.Draw(t, "observation")
		if o.evaluate(t).Decision == Sealed {
			sealed++
		}
		ref := rapid.SampledFrom([]*string{&o.Input.SourceRef, &o.Input.TargetRef, &o.Contract.SourceRef, &o.Contract.TargetRef}).Draw(t, "ref")
		was := *ref
		*ref = rapid.SampledFrom([]string{was + " ", strings.ToUpper(was), was[1:], was + "\u200b", "x"}).Draw(t, "other")
		switch ref {
		case &o.Input.SourceRef:
			o.Contract.SourceRef = was
		case &o.Input.TargetRef:
			o.Contract.TargetRef = was
		case &o.Contract.SourceRef:
			o.Input.SourceRef = was
		default:
			o.Input.TargetRef = was
		}
		require.Equal(t, Blocked, o.evaluate(t).Decision)
	})
	require.NotZero(t, sealed, "nothing was ever sealed, so nothing was shown")
}

// TestNoFreshnessSurvivesAnOlderRevision: an observation that is older than the
// least version, or than the limit, is never sealed.
func TestNoFreshnessSurvivesAnOlderRevision(t *testing.T) {
	sealed := 0
	rapid.Check(t, func(t *rapid.T) {
		o := observations.Draw(t, "observation")
		if o.evaluate(t).Decision == Sealed {
			sealed++
		}
		switch o.Contract.Freshness.Mode {
		case FreshnessSourceVersion:
			older := "rev-0"
			o.Input.SourceVersion = &older
		case FreshnessMaxAge:
			late := time.Duration(o.Contract.Freshness.MaxAgeSeconds)*time.Second + time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "late"))*time.Microsecond
			o.Input.ObservedAt = benchmarkNow.Add(-late).Format(time.RFC3339Nano)
		default:
			return
		}
		require.Equal(t, Blocked, o.evaluate(t).Decision)
	})
	require.NotZero(t, sealed, "nothing was ever sealed, so nothing was shown")
}

// TestVersionOrder: comparing is antisymmetric, equal texts are equal, and numbers
// count by their value.
func TestVersionOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "7", "10", "007", "a", ".", "-", "é", "٣", "²"}), 0, 6)
		a, b := strings.Join(runs.Draw(t, "a"), ""), strings.Join(runs.Draw(t, "b"), "")
		require.Equal(t, CompareVersions(a, b), -CompareVersions(b, a))
		require.Zero(t, CompareVersions(a, a))
		n, m := rapid.Uint32().Draw(t, "n"), rapid.Uint32().Draw(t, "m")
		want := 0
		if n != m {
			want = 1
			if n < m {
				want = -1
			}
		}
		zeros := strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
		require.Equal(t, want, CompareVersions(fmt.Sprintf("v%s%d", zeros, n), fmt.Sprintf("v%d", m)))
	})
}

// TestTimesAgainstTheLibrary: what RFC 3339 allows is read as the standard library
// reads it, to the microsecond.
func TestTimesAgainstTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(-62135596800e6, 253402300799e6).Draw(t, "time"))
		zone := time.FixedZone("", rapid.IntRange(-1439, 1439).Draw(t, "offset")*60)
		text := at.In(zone).Format("2006-01-02T15:04:05.999999Z07:00")
		if len(text) < 19 || text[4] != '-' || text[0] == '-' || at.In(zone).Year() < 1 || at.In(zone).Year() > 9999 {
			t.Skip("a year that the format cannot hold")
		}
		got, ok := ParseTimestamp(text)
		require.True(t, ok, text)
		require.True(t, at.Equal(got), "%s is %s, not %s", text, at, got)
	})
}
