// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// shorter are the windows of the rules, and what they are here. Their order is
// kept: what is compared with a longer time still is. Expressions, thresholds
// and labels are not touched.
var shorter = map[string]string{"10m": "10s", "1h": "15s", "6h": "30s", "1d": "1m", "1w": "1m"}

var (
	window   = regexp.MustCompile(`\[([0-9a-z]+)\]|offset ([0-9a-z]+)`)
	waiting  = regexp.MustCompile(`(?m)^( *)for: \S+$`)
	interval = regexp.MustCompile(`(?m)^( *)interval: \S+$`)
)

// shortened is a file of rules for a test that lasts a minute and not a week.
func shortened(t *testing.T, rules string) string {
	t.Helper()
	rules = window.ReplaceAllStringFunc(rules, func(found string) string {
		m := window.FindStringSubmatch(found)
		to, ok := shorter[m[1]+m[2]]
		require.True(t, ok, "no shorter time for %s", found)
		if m[1] != "" {
			return "[" + to + "]"
		}
		return "offset " + to
	})
	rules = waiting.ReplaceAllString(rules, "${1}for: 2s")
	return interval.ReplaceAllString(rules, "${1}interval: 1s")
}
