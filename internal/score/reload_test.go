// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// pastPolicies is a store that several policies share, as the processor has it:
// each has a number, and later ones have greater numbers.
type pastPolicies struct {
	scorers []*Scorer
	rest    map[string][]byte
	latest  map[string]int // the policy that the state belongs to
}

func newPastPolicies(t require.TestingT, texts ...string) *pastPolicies {
	p := &pastPolicies{rest: map[string][]byte{}, latest: map[string]int{}}
	for _, text := range texts {
		pol, err := policy.Load("policy.yaml", []byte(text))
		require.NoError(t, err)
		p.scorers = append(p.scorers, New(pol))
	}
	return p
}

// trace evaluates the n-th turn of conversation "a" by a policy.
func (p *pastPolicies) trace(t require.TestingT, by, n int, tool string) *Session {
	s, open := p.scorers[by], remembering{}
	if data, ok := p.rest["a"]; ok {
		restore := s.RestoreConversation
		if p.latest["a"] > by {
			restore = s.RestoreLaterConversation
		}
		c, err := restore(data)
		require.NoError(t, err)
		open["a"] = c
	}
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(turnOf(n, "a", tool, "1"))
	v := s.Trace(facts, open)
	p.rest["a"] = s.AppendConversation(nil, open["a"])
	p.latest["a"] = max(p.latest["a"], by)
	return v
}

func verdictsOf(v *Session) (lines []string) {
	for _, p := range v.Protocols {
		line := p.Protocol.Name + ": " + p.Verdict.String()
		for _, e := range p.Events {
			line += " " + e.Name
			if e.Reason != "" {
				line += " (" + e.Reason + ")"
			}
		}
		lines = append(lines, line+" ["+p.Gaps.String()+"]")
	}
	return lines
}

const (
	orderFirst = `
  - name: order-first
    session: conversation
    protocol: "!order.?order.rec X.!{order.?order.X, refund.?refund.X}"
`
	twoOrders = `
  - name: order-first
    session: conversation
    protocol: "!order.?order.!order.?order.!refund.?refund.end"
`
	noRefund = `
  - name: no-refund
    session: conversation
    protocol: "rec X.!{order.?order.X, cancel.?cancel.X}"
`
	whole = "    assume_complete: true\n"
)

// The first trace under a changed protocol begins anew. What it lacks explains a
// violation, and a protocol that did not change knows better.
func TestReloadCapsWhatBeginsAnew(t *testing.T) {
	const why = "the policy changed while the conversation was followed"
	for name, test := range map[string]struct {
		before, after, tool string
		want                []string
	}{
		"a changed protocol": {
			orderFirst, twoOrders, "refund",
			[]string{"order-first: inconclusive !refund (" + why + ") ?refund (the protocol was broken before) [policy_changed]"},
		},
		"a changed protocol that is kept": {
			orderFirst, twoOrders, "order",
			[]string{"order-first: compliant !order ?order [policy_changed]"},
		},
		"a changed protocol whose telemetry is said to be whole": {
			orderFirst, twoOrders + whole, "refund",
			[]string{"order-first: inconclusive !refund (" + why + ") ?refund (the protocol was broken before) [policy_changed]"},
		},
		"a violation that nothing explains": {
			orderFirst, noRefund, "refund",
			[]string{"no-refund: violation !refund (not legal here) ?refund (the protocol was broken before) [policy_changed]"},
		},
		"a new protocol beside one that goes on": {
			orderFirst, orderFirst + twoOrders[:1] + "  - name: twice\n" + twoOrders[len("\n  - name: order-first\n"):], "refund",
			[]string{
				"order-first: compliant !refund ?refund []",
				"twice: inconclusive !refund (" + why + ") ?refund (the protocol was broken before) [policy_changed]",
			},
		},
		"only the contracts changed": {
			orderFirst, orderFirst + "contracts: [{name: c, match: {tools: [x]}, claim_type: found, required_fields: [id], freshness: {mode: not_required}, source_ref: s, target_ref: t}]\n", "refund",
			[]string{"order-first: compliant !refund ?refund []"},
		},
		"the way it is written": {
			orderFirst, "\n  - session: conversation\n    name: order-first\n    protocol: \"!order . ?order . rec Y.!{refund.?refund.Y, order.?order.Y}\"\n", "refund",
			[]string{"order-first: compliant !refund ?refund []"},
		},
		"its rules": {
			orderFirst, orderFirst + "    after_end: violation\n", "refund",
			[]string{"order-first: inconclusive !refund (" + why + ") ?refund (the protocol was broken before) [policy_changed]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := newPastPolicies(t, "protocols:"+test.before, "protocols:"+test.after)
			v := store.trace(t, 0, 1, "order")
			require.Equal(t, []string{"order-first: compliant !order ?order []"}, verdictsOf(v))
			v = store.trace(t, 1, 2, test.tool)
			require.Equal(t, test.want, verdictsOf(v))
			require.Equal(t, store.scorers[1].Policy().Hash, v.PolicyHash)
			if slices.ContainsFunc(v.Protocols, func(p Protocol) bool { return p.Gaps != 0 }) {
				require.Equal(t, GapSet(GapPolicyChanged), v.Gaps)
			}
		})
	}
}

// The gap stays as long as the state does: what is missing before its first event
// explains later ones, too.
func TestReloadCapsLaterTraces(t *testing.T) {
	store := newPastPolicies(t, "protocols:"+orderFirst, "protocols:"+twoOrders)
	store.trace(t, 0, 1, "order")
	require.Equal(t, Compliant, store.trace(t, 1, 2, "order").Compliance)
	v := store.trace(t, 1, 3, "refund")
	require.Equal(t, Inconclusive, v.Compliance)
	require.Equal(t, GapSet(GapPolicyChanged), v.Gaps)

	// A conversation that the later policy has followed from its beginning has none.
	delete(store.rest, "a")
	require.Equal(t, Compliant, store.trace(t, 1, 2, "order").Compliance)
	v = store.trace(t, 1, 3, "refund")
	require.Equal(t, Violation, v.Compliance)
	require.Zero(t, v.Gaps)
}

// A trace of the earlier policy that completes later has the gap, and leaves the
// new state as it is, but for the note that a trace is missing there.
func TestReloadTraceOfTheEarlierPolicyCompletesLater(t *testing.T) {
	store := newPastPolicies(t, "protocols:"+orderFirst+noRefund, "protocols:"+twoOrders+noRefund)
	store.trace(t, 0, 1, "order")
	store.trace(t, 1, 3, "order")
	before, err := store.scorers[1].RestoreConversation(store.rest["a"])
	require.NoError(t, err)

	// It is followed on its own by the protocol that changed, and out of order for
	// the one that did not.
	v := store.trace(t, 0, 2, "refund")
	require.Equal(t, []string{
		"order-first: inconclusive !refund (the policy changed while the conversation was followed) ?refund (the protocol was broken before) [policy_changed]",
		"no-refund: inconclusive !refund (a trace of the conversation came after later ones) ?refund (a trace of the conversation came after later ones) [out_of_order]",
	}, verdictsOf(v))
	require.Equal(t, "out_of_order policy_changed", v.Gaps.String())
	require.Equal(t, store.scorers[0].Policy().Hash, v.PolicyHash)

	after, err := store.scorers[1].RestoreConversation(store.rest["a"])
	require.NoError(t, err)
	require.Equal(t, before.consumed, after.consumed)
	require.Len(t, after.followed, 2)
	for i := range after.followed {
		require.Equal(t, before.followed[i].monitor.Snapshot(), after.followed[i].monitor.Snapshot())
		require.Equal(t, before.followed[i].seen, after.followed[i].seen)
	}
	require.Equal(t, before.followed[0].worst, after.followed[0].worst)
	require.Equal(t, Inconclusive, after.followed[1].worst, "a trace was not followed")

	// In order, it joins the protocol that did not change.
	v = store.trace(t, 0, 4, "refund")
	require.Equal(t, "order-first: inconclusive !refund (the policy changed while the conversation was followed) ?refund (the protocol was broken before) [policy_changed]", verdictsOf(v)[0])
	require.Contains(t, verdictsOf(v)[1], "no-refund: violation !refund")
	v = store.trace(t, 1, 5, "cancel")
	require.Equal(t, Violation, v.Protocols[1].Verdict, "the protocol that did not change remembers")
}

// A conversation that the later policy knew first learns from a trace of the
// earlier policy that it has not seen everything.
func TestReloadEarlierTraceIsMissingFromTheNewState(t *testing.T) {
	store := newPastPolicies(t, "protocols:"+orderFirst, "protocols:"+twoOrders)
	require.Equal(t, Compliant, store.trace(t, 1, 2, "order").Compliance)
	require.Equal(t, GapSet(GapPolicyChanged), store.trace(t, 0, 1, "order").Gaps)
	v := store.trace(t, 1, 3, "refund") // two orders, one of them not followed
	require.Equal(t, Inconclusive, v.Compliance)
	require.Equal(t, GapSet(GapPolicyChanged), v.Gaps)
}

// A protocol that all policies have is followed as if there were one policy,
// whatever the order of traces and policies; no other one has a violation that
// something explains which it has not seen.
func TestReloadsDoNotConcernProtocolsThatStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := newPastPolicies(t, "protocols:"+orderFirst)
		several := newPastPolicies(t, "protocols:"+orderFirst+noRefund, "protocols:"+orderFirst, "protocols:"+noRefund+orderFirst+
			"  - {name: twice, session: conversation, protocol: \"!order.?order.!order.?order.!refund.?refund.end\"}\n")
		current := 0
		for i := range rapid.IntRange(1, 10).Draw(t, "traces") {
			current = rapid.IntRange(current, 2).Draw(t, "policy in force")
			by := rapid.IntRange(0, current).Draw(t, "policy of the trace")
			n := rapid.IntRange(max(0, i-2), i+1).Draw(t, "n")
			tool := rapid.SampledFrom([]string{"order", "refund", "cancel"}).Draw(t, "tool")
			want, got := one.trace(t, 0, n, tool), several.trace(t, by, n, tool)
			at := slices.IndexFunc(got.Protocols, func(p Protocol) bool { return p.Protocol.Name == "order-first" })
			if diff := cmp.Diff(verdictsOf(want), verdictsOf(got)[at:at+1]); diff != "" {
				t.Fatal(diff)
			}
			if want, got := fmt.Sprint(want.OutOfOrder), fmt.Sprint(got.OutOfOrder); want != got {
				t.Fatal("out of order:", got)
			}
		}
	})
}
