// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who looks away once a protocol has finished is told nothing wrong by what
// follows; until then it is Explains.
func TestExplainsPast(t *testing.T) {
	booking := "rec A.!Search.!Present.?{Approval.!Book.end, Again.A}"
	tests := []struct {
		source, seen, missing string
		want, past            bool
	}{
		{booking, "!Search !Book !Present", "?Approval !Present", false, true},
		{booking, "!Search !Book ?Other", "?Approval !Present", false, true},
		{booking, "!Search !Book !Present", "?Approval", false, false},
		{booking, "!Search !Other", "?Approval !Present !Book", false, true},
		{booking, "!Search !Present", "", true, true},
		{booking, "!Present", "", false, false},
		{"!a", "!a !a !b", "", false, true},
		{"rec L.!{a.L, b}", "!a !c", "", false, false},
		{"rec L.!{a.L, b}", "!b !c !a", "", false, true},
	}
	for _, tt := range tests {
		p, err := Parse(tt.source)
		require.NoError(t, err)
		a, _, err := Compile(p)
		require.NoError(t, err)
		var events []Event
		for _, name := range strings.Fields(tt.seen) {
			events = append(events, Event{Direction: direction(name[:1]), Label: name[1:]})
		}
		missing := func(d Direction, label string) bool {
			return slices.Contains(strings.Fields(tt.missing), d.String()+label)
		}
		require.Equal(t, tt.want, a.Explains(events, missing), "%s: %s", tt.source, tt.seen)
		require.Equal(t, tt.past, a.ExplainsPast(events, missing), "%s: %s", tt.source, tt.seen)
	}
}
