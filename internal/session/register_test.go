// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A register keeps a hash of what is too long, and guards compare it as they would
// compare the value.
func TestLongRegisters(t *testing.T) {
	protocol, err := Parse("!a(x as r).rec X.!{same(x == r).X, other(x != r).X}")
	require.NoError(t, err)
	automaton, _, err := Compile(protocol)
	require.NoError(t, err)
	long := strings.Repeat("x", maxRegister+1)
	list := "[" + strings.Repeat("1,", maxRegister) + "1.0]"
	for _, test := range []struct{ bound, same, other string }{
		{`"` + long + `"`, `"` + long + `"`, `"` + long + `y"`},
		{`"` + long + `"`, `"` + long + `"`, `"short"`},
		{list, strings.ReplaceAll(list, "1.0", "1"), strings.ReplaceAll(list, "1.0", "2")},
		{`"` + long + `"`, `"` + long + `"`, `["` + long + `"]`},
		{`"short"`, `"short"`, `"` + long + `"`},
	} {
		payload := func(value string) Payload {
			fields, err := ParseFields(`{"x":` + value + `}`)
			require.NoError(t, err)
			return fields
		}
		m := automaton.NewMonitor()
		require.Equal(t, OK, m.Send("a", payload(test.bound)).Result)
		require.LessOrEqual(t, len(m.Registers()[0].Value.String()), maxRegister+2)

		// What is kept of a value is the same as what is kept of what was kept, and
		// both know the length.
		bound, err := ParseValue(test.bound)
		require.NoError(t, err)
		kept, length := bound.Kept()
		require.Equal(t, m.Registers()[0].Value, kept)
		again, same := kept.Kept()
		require.Equal(t, kept, again)
		require.Equal(t, length, same)

		// A hash that was kept without the length is compared all the same.
		if text := kept.String(); kept.IsHashed() {
			old := HashedValue(strings.Trim(text[:strings.Index(text, lengthMark)], `"`))
			require.True(t, bound.equalsKept(old))
			other, err := ParseValue(test.other)
			require.NoError(t, err)
			require.False(t, other.equalsKept(old))
		}

		// At rest and back, as JSON too.
		text, err := json.Marshal(m.Snapshot())
		require.NoError(t, err)
		var snapshot Snapshot
		require.NoError(t, json.Unmarshal(text, &snapshot))
		restored, err := automaton.Restore(snapshot)
		require.NoError(t, err)
		require.Equal(t, m.Registers(), restored.Registers())

		// The text of the hash is not the value.
		hash := m.Registers()[0].Value.String()
		for _, m := range []*Monitor{m, restored} {
			require.Equal(t, OK, m.Peek(Send, "same", payload(test.same)).Result)
			require.Equal(t, Violation, m.Peek(Send, "other", payload(test.same)).Result)
			require.Equal(t, Violation, m.Peek(Send, "same", payload(test.other)).Result)
			require.Equal(t, OK, m.Peek(Send, "other", payload(test.other)).Result)
			if m.Registers()[0].Value.IsHashed() {
				require.Equal(t, Violation, m.Peek(Send, "same", payload(hash)).Result)
			}
		}
	}
	require.True(t, HashedValue("sha256:short").IsZero())
	hash := "sha256:" + strings.Repeat("0", 64)
	require.True(t, HashedValue(hash).IsHashed(), "of a version that did not keep the length")
	require.True(t, HashedValue(hash+"/7").IsHashed())
	require.True(t, HashedValue(hash+"/x").IsZero())
	require.True(t, HashedValue(hash+"/-7").IsZero())
}
