// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package mask_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Values are numbered as they first appear, and types are kept apart.
func TestValues(t *testing.T) {
	var v mask.Values
	for _, tt := range []struct{ json, want string }{
		{`"jane@example"`, "‹12 characters, #1›"},
		{`"jane@example"`, "‹12 characters, #1›"},
		{`"1"`, "‹1 character, #2›"},
		{`1`, "‹1 character, #3›"},
		{`""`, "‹0 characters, #4›"},
		{`"a\n\"é\""`, "‹5 characters, #5›"},
		{`"\ud800"`, "‹1 character, #6›"},
		{`"\ud801"`, "‹1 character, #7›"},
		{`{"id":"A-1"}`, "‹12 characters, #8›"},
		{`null`, "‹4 characters, #9›"},
		{`"1"`, "‹1 character, #2›"},
	} {
		require.Equal(t, tt.want, v.JSON(tt.json), tt.json)
	}
	long := strings.Repeat("é", 5000)
	kept, _ := session.StringValue(long).Kept()
	require.NotContains(t, kept.String(), "é")
	require.Equal(t, "‹5000 characters, #10›", v.Text(long))
	require.Equal(t, "‹5000 characters, #10›", v.JSON(kept.String()), "of what a register keeps")
	require.Equal(t, "‹5000 characters, #11›", v.Text(long[2:]+"e"))
	require.Equal(t, "‹12 characters, #1›", v.Text("jane@example"))
	require.Equal(t, "‹5 characters, #5›", v.Text("a\n\"é\""))
	require.Equal(t, "‹13 characters›", mask.Length("jane@example!"))
}

// A mask is the same for equal values and for no others, and holds nothing of
// them but their length.
func TestMasksTellEqualityOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v mask.Values
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-c]{0,2}`), 2, 20).Draw(t, "texts")
		masks := make([]string, len(texts))
		for i, text := range texts {
			masks[i] = v.Text(text)
			require.Equal(t, masks[i], v.JSON(session.StringValue(text).String()))
			for j := range i {
				require.Equal(t, texts[i] == texts[j], masks[i] == masks[j])
			}
		}
		var again mask.Values
		for i, text := range texts {
			require.Equal(t, masks[i], again.Text(strings.ToUpper(text)), "another alphabet, the same masks")
		}
	})
}

func TestIdentifier(t *testing.T) {
	for _, text := range []string{"A-1", "order:A-1", "crm://customers/42", "é", strings.Repeat("x", 64), "‹›", "a@b.example"} {
		require.True(t, mask.Identifier(text), text)
	}
	for _, text := range []string{"", "A 1", "A\t1", "A\u00a01", "A\n", strings.Repeat("x", 65), strings.Repeat("é", 65), "\xff", "a\x1bb", "a\u202eb"} {
		require.False(t, mask.Identifier(text), "%q", text)
	}
}
