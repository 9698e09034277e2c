// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

func load(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	return p
}

func naming(span string) string {
	return `
protocols:
  - name: checked
    protocol: "!` + span + `.end"
    events: [{label: ` + span + `, event: span, name: ` + span + `}]
`
}

// A policy is in force when the batches that were received before it have left, and its
// names are known at once. An earlier one is dropped with its last batch and trace.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(load(t, naming("first")), nil)
		first := s.Enter()
		first.Join()
		first.Revision.Hold()
		replaced := make(chan bool)
		go func() { replaced <- s.Replace(load(t, naming("second")), nil) }()
		synctest.Wait()
		require.Equal(t, 1, s.Current().Revision.Number)
		require.True(t, s.Current().Names("first"))
		require.True(t, s.Current().Names("second"))
		first.Leave()
		time.Sleep(2 * DrainInterval)
		require.Equal(t, 1, s.Current().Revision.Number)
		first.Leave()
		require.True(t, <-replaced)
		require.Equal(t, 2, s.Current().Revision.Number)

		s.Collect()
		require.True(t, s.Current().Names("first"), "a trace is buffered")
		first.Revision.Release()
		second := s.Enter()
		s.Collect()
		require.False(t, s.Current().Names("first"))
		require.True(t, s.Current().Names("second"))
		require.Len(t, s.retired, 1, "the one that the batch is in")
		second.Leave()
		s.Collect()
		require.Empty(t, s.retired)
		require.Len(t, s.Current().All, 1)
	})
}

// Replace does not wait for batches once the processor stops.
func TestReplaceIsStopped(t *testing.T) {
	s := NewSet(&policy.Policy{}, nil)
	defer s.Enter().Leave()
	stop := make(chan struct{})
	close(stop)
	require.False(t, s.Replace(&policy.Policy{}, stop))
	require.Equal(t, 1, s.Current().Revision.Number)
}

// The latest revision that follows no conversations is known to all later ones.
func TestUnfollowed(t *testing.T) {
	follows := `
protocols:
  - {name: talk, session: conversation, protocol: "rec X.!{a.?a.X}"}
`
	var got []int
	s := NewSet(load(t, follows), nil)
	for _, text := range []string{naming("x"), follows, follows, naming("x"), follows} {
		got = append(got, s.Current().Revision.Unfollowed)
		require.True(t, s.Replace(load(t, text), nil))
	}
	require.Equal(t, []int{0, 2, 2, 2, 5}, got)
}
