// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A policy at a limit loads, and one past it does not and names the limit.
func TestLimits(t *testing.T) {
	const contract = "  - {name: %s, match: {tools: [%q]}, claim_type: found, required_fields: [x], freshness: {mode: not_required}, source_ref: s, target_ref: t%s}\n"
	contractWith := func(name, tool, more string) string { return "contracts:\n" + fmt.Sprintf(contract, name, tool, more) }
	protocolWith := func(more string) string {
		return "protocols:\n  - {name: p, protocol: \"!a\", events: [{label: a, event: tool_call, tools: [a]}]" + more + "}\n"
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	words := func(key string) func(int) string {
		return func(n int) string { return protocolWith(fmt.Sprintf(", %s: %s", key, text(n))) }
	}
	for name, tt := range map[string]struct {
		limit int
		of    func(n int) string
		want  string
	}{
		"size":         {MaxSize, func(n int) string { s := contractWith("c", "t", "") + "#"; return s + text(n-len(s)) }, "the policy is larger than 4 MiB"},
		"glob":         {maxPatternLength, func(n int) string { return contractWith("c", text(n), "") }, "glob is longer than 4,096 bytes"},
		"glob nesting": {maxGlobNesting, func(n int) string { return contractWith("c", strings.Repeat("{", n)+"a"+strings.Repeat("}", n), "") }, "braces nest too deeply"},
		"JSONPath":     {maxPatternLength, func(n int) string { return contractWith("c", "t", ", observation: {payload: $."+text(n-2)+"}") }, "path is longer than 4,096 bytes"},
		"field path":   {maxPatternLength, func(n int) string { return protocolWith("") + fieldRule(text(n)) }, "path is longer than 4,096 bytes"},
		"expression":   {maxPatternLength, func(n int) string { return protocolWith("") + textRule(text(n)) }, "regular expression is longer than 4,096 bytes"},
		"name":         {maxNameLength, func(n int) string { return contractWith(text(n), "t", "") }, "the name is longer than 256 characters"},
		"description":  {maxDescriptionLength, words("description"), "the description is longer than 4096 characters"},
		"owner":        {maxOwnerLength, words("owner"), "the owner is longer than 256 characters"},
		"runbook":      {maxRunbookLength, func(n int) string { return protocolWith(", runbook: \"https://h/" + text(n-len("https://h/")) + "\"") }, "the runbook is longer than 2048 characters"},
		"reason": {maxReasonLength, func(n int) string {
			return protocolWith(", acknowledge: [{kind: unmatched-label, reason: " + text(n) + "}]")
		}, "the reason is longer than 1024 characters"},
		"evidence refs": {maxEvidenceRefs, func(n int) string {
			return contractWith("c", "t", ", observation: {evidence_refs: ["+strings.Repeat("e, ", n)+"]}")
		}, "an observation has at most 64 evidence refs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load("p", []byte(tt.of(tt.limit)))
			require.NoError(t, err)
			_, err = Load("p", []byte(tt.of(tt.limit+1)))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func fieldRule(path string) string {
	return fmt.Sprintf("  - name: q\n    protocol: \"!a\"\n    events:\n      - label: a\n        event: tool_call\n        arguments:\n          ? %s\n          : x\n", path)
}

func textRule(expression string) string {
	return fmt.Sprintf("  - {name: q, protocol: \"!a\", events: [{label: a, event: agent_message, text: %q}]}\n", expression)
}

// Only the first errors and warnings of a policy are reported, and a warning that
// is repeated is listed so often only.
func TestDiagnosticsAreBounded(t *testing.T) {
	_, err := Load("p", []byte("contracts:\n"+strings.Repeat("  - {name: [x]}\n", maxErrors)))
	require.ErrorContains(t, err, fmt.Sprintf("only the first %d errors are shown", maxErrors))
	require.Equal(t, maxErrors+1, strings.Count(err.Error(), "\np:")+1)

	var b strings.Builder
	b.WriteString("contracts:\n")
	for n := range 2 * maxWarnings { // each has a warning at least: its source is never checked
		fmt.Fprintf(&b, "  - {name: c%d, match: {tools: [t%d]}, claim_type: found, required_fields: [x], freshness: {mode: not_required}, source_ref: s, target_ref: t}\n", n, n)
	}
	p, err := Load("p", []byte(b.String()))
	require.NoError(t, err)
	review := p.Review(time.Now())
	require.Len(t, review.Warnings, maxWarnings)
	for _, g := range review.Groups() {
		if len(g.More) > maxListed {
			require.Contains(t, g.String(), fmt.Sprintf("and %d more", len(g.More)))
			require.Less(t, len(g.String()), 100*(maxListed+2))
		}
	}
}

// A policy that stands in the collector's configuration is nested so deep only.
func TestMapDepth(t *testing.T) {
	nested := func(n int) map[string]any {
		m := map[string]any{"x": "y"}
		for range n {
			m = map[string]any{"contracts": m}
		}
		return m
	}
	_, err := LoadMap("p", nested(maxMapDepth-2))
	require.NotContains(t, err.Error(), "nests too deeply")
	_, err = LoadMap("p", nested(maxMapDepth+1))
	require.ErrorContains(t, err, "nests too deeply")
}
