// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// The warnings of a policy are logged folded, by kind, the most serious first;
// those that are acknowledged at that time are counted.
func TestLogWarnings(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(`contracts:
  - {name: a, claim_type: found, required_fields: [x], freshness: {mode: not_required}, source_ref: s, target_ref: t, observation: {target_ref: "{result.id}"}}
  - {name: b, claim_type: not_found, required_fields: [x], freshness: {mode: not_required}, source_ref: s, target_ref: t, observation: {target_ref: "{result.id}"}}
  - name: c
    claim_type: found
    required_fields: [x]
    freshness: {mode: not_required}
    source_ref: s
    target_ref: t
    observation: {target_ref: "{result.id}"}
    acknowledge: [{kind: unchecked-source, reason: one backend, expires: 2027-01-31}]
`))
	require.NoError(t, err)
	logged := func(now time.Time) (lines []string) {
		core, logs := observer.New(zapcore.InfoLevel)
		logWarnings(zap.New(core), p, now)
		for _, e := range logs.All() {
			f := e.ContextMap()
			lines = append(lines, fmt.Sprintf("%s: %s %v %v", e.Level, e.Message, f["kind"], f["count"]))
			if e.Level == zapcore.WarnLevel {
				require.Contains(t, f["warning"], fmt.Sprintf("warning [%s]: ", f["kind"]))
			}
		}
		return lines
	}
	require.Equal(t, []string{
		"warn: the policy has a warning always-blocked 1",
		"warn: the policy has a warning unchecked-source 2",
		"info: warnings of the policy are acknowledged <nil> 1",
	}, logged(time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)))
	require.Equal(t, []string{
		"warn: the policy has a warning always-blocked 1",
		"warn: the policy has a warning unchecked-source 2",
		"warn: the policy has a warning unchecked-source 1",
	}, logged(time.Date(2027, 2, 1, 12, 0, 0, 0, time.UTC)))
}
