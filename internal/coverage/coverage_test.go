// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package coverage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/coverage"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// cover holds a policy against traces.
func cover(t *testing.T, policyText string, files ...string) *coverage.Coverage {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(policyText))
	require.NoError(t, err)
	c := coverage.New(p)
	var traces traceread.Collection
	require.NoError(t, traceread.Read(files, nil, 2, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}))
	for _, td := range traces.Traces() {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
		if v, a := score.New(p).Explain(facts, nil); v != nil {
			c.Add(v, a)
		}
	}
	return c
}

const (
	support = "../traceread/testdata/strands.jsonl"
	mixed   = "testdata/two-agents.jsonl"
	// 12 calls, of which 4 returned {"results": [], "total": 0}.
	emptyLists = "testdata/empty-lists.jsonl"
	refunds    = "../../examples/protocols/no-action-on-an-unsealed-fact/traces.jsonl"
)

// listContract is a policy of one contract, for the results of emptyLists.
func listContract(name, required, payload string) string {
	return `contracts:
  - name: ` + name + `
    claim_type: found
    required_fields: ` + required + `
    freshness: {mode: not_required}
    source_ref: web://search
    target_ref: "web:{arguments.q}"
    observation: {payload: ` + payload + `}
`
}

func TestFindings(t *testing.T) {
	const contract = `
    claim_type: found
    required_fields: [a]
    freshness: {mode: not_required}
    source_ref: crm://customers
    target_ref: "customer:{arguments.id}"
`
	tests := []struct {
		name, policy, traces string
		want                 []string
	}{
		{"a tool that nobody calls", "contracts:\n  - name: c\n    match: {tools: [serch_customer, \"mail_*\"]}" + contract, refunds, []string{
			"unmatched-contract contracts[0].match.tools: c is for none of the 9 calls; the tools called are get_order, refund",
			"unjudged-tool : no contract is for the tool get_order (5 calls)",
			"unjudged-tool : no contract is for the tool refund (4 calls)",
		}},
		{"another agent", "contracts:\n  - name: c\n    match: {tools: [get_order], agents: [billing]}" + contract, refunds, []string{
			"unmatched-contract contracts[0].match.agents: c is for the tools of 5 calls, but not for the agents: these are refund-agent",
			"unjudged-tool : no contract is for the tool get_order (5 calls)",
			"unjudged-tool : no contract is for the tool refund (4 calls)",
		}},
		{"another service", "contracts:\n  - name: c\n    match: {tools: [\"*\"], services: [billing]}" + contract, refunds, []string{
			"unmatched-contract contracts[0].match.services: c is for the tools of 9 calls, but not for the services: these are refund-agent",
			"unjudged-tool : no contract is for the tool get_order (5 calls)",
			"unjudged-tool : no contract is for the tool refund (4 calls)",
		}},
		{"templates that find nothing", `contracts:
  - name: c
    match: {tools: [get_order]}
    claim_type: effect_observed
    required_fields: [a]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.order}"
    effect_evidence_required: true
    observation:
      payload: $.data
      source_ref: "{resource.region}"
      source_version: "{attributes.version}"
      observed_at: "{result.as_of}"
      evidence_refs: ["{tool.name}", "{result.message_id}"]
`, refunds, []string{
			"empty-template contracts[0].observation.evidence_refs[1]: {result.message_id} found nothing in all 5 calls",
			"empty-template contracts[0].observation.observed_at: {result.as_of} found nothing in all 5 calls",
			"empty-template contracts[0].observation.source_ref: {resource.region} found nothing in all 5 calls",
			"empty-template contracts[0].observation.source_version: {attributes.version} found nothing in all 5 calls",
			"empty-template contracts[0].target_ref: order:{arguments.order} found nothing in all 5 calls",
			"empty-payload contracts[0].observation.payload: $.data selected nothing in all 5 results",
			"unjudged-tool : no contract is for the tool refund (4 calls)",
		}},
		{"only calls that failed", "contracts:\n  - name: c\n    match: {tools: [refund]}" + contract + "    observation: {target_ref: \"{result.id}\"}\n", support, []string{
			"uncaptured-result contracts[0]: c is for 2 calls, and no result of them was recorded (or the calls failed), so what it asks of a result was never tried",
			"empty-template contracts[0].target_ref: customer:{arguments.id} found nothing in both calls",
			"unjudged-tool : no contract is for the tool get_order (2 calls)",
			"unjudged-tool : no contract is for the tool lookup_stock (2 calls)",
			"unjudged-tool : no contract is for the tool search_customer (4 calls)",
			"unjudged-tool : no contract is for the tool send_email (2 calls)",
		}},
		{"objects without an entry in any list", listContract("c", "[results]", "null"), emptyLists, []string{
			"empty-list contracts[0].observation.payload: c sealed 4 objects without an entry in any list: an empty list proves nothing, so let payload select the list",
		}},
		{"the list itself", listContract("c", "[]", "$.results"), emptyLists, nil},
		{"something beside the list", listContract("c", "[]", "$.total"), emptyLists, nil},
		{"rules that name nothing", `protocols:
  - name: p
    protocol: "!a.?a"
    events:
      - {label: a, event: tool_call, tools: [get_order]}
      - {label: a, event: tool_result, tools: [get_ordr]}
      - {label: b, event: user_message, text: "no such text"}
`, refunds, []string{
			"unmatched-rule protocols[0].events[1]: the rule for ?a named nothing in all 5 sessions; the tools called are get_order, refund",
			"unmatched-rule protocols[0].events[2]: the rule for ?b named nothing in all 5 sessions",
			"unjudged-tool : no event rule is for the tool refund (4 calls)",
		}},
		{"a label that no template gives", `protocols:
  - name: p
    protocol: "rec X.!{get_order.?done.X, refnd.?done.X}"
    events:
      - {label: "{tool.name}", event: tool_call}
      - {label: done, event: tool_result}
`, refunds, []string{
			"unmatched-label protocols[0]: p waits for !refnd, which no rule named in all 5 sessions; the tools called are get_order, refund",
		}},
		{"no rules, and other names", "protocols:\n  - name: p\n    protocol: \"!get_order.?get_order.!Refund\"\n", refunds, []string{
			"unmatched-label protocols[0]: p waits for !Refund, which never happened; without event rules, calls and results are named by their tools, and these are get_order, refund",
		}},
		{"a rule for a tool without a contract", "contracts:\n  - name: c\n    match: {tools: [other]}" + contract + `protocols:
  - name: p
    protocol: "!a"
    events: [{label: a, event: tool_call, tools: [refund]}]
`, refunds, []string{
			"unmatched-contract contracts[0].match.tools: c is for none of the 9 calls; the tools called are get_order, refund",
			"unjudged-tool : no contract and no event rule is for the tool get_order (5 calls)",
			"uncontracted-tool : no contract is for the tool refund (4 calls)",
		}},
		{"a contract for some calls of a tool", "contracts:\n  - name: c\n    match: {tools: [search_customer], agents: [support-agent]}" + contract, mixed, []string{
			"uncontracted-tool : no contract is for 1 of 2 calls of the tool search_customer",
		}},
		{"a protocol without rules has an event for every call", "contracts:\n  - name: c\n    match: {tools: [get_order]}" + contract + "protocols:\n  - name: p\n    protocol: \"rec X.!{get_order.?get_order.X, refund.?refund.X}\"\n", refunds, []string{
			"empty-template contracts[0].target_ref: customer:{arguments.id} found nothing in all 5 calls",
			"uncontracted-tool : no contract is for the tool refund (4 calls)",
		}},
		{"other agents and services", `protocols:
  - name: p
    match: {agents: ["billing-*"]}
    protocol: "!a"
  - name: q
    match: {services: [billing]}
    protocol: "!a"
  - name: r
    match: {agents: [refund-agent], services: [billing]}
    protocol: "!a"
`, refunds, []string{
			"unmatched-protocol protocols[0].match.agents: p follows none of the 5 sessions; the agents are refund-agent",
			"unmatched-protocol protocols[1].match.services: q follows none of the 5 sessions; the services are refund-agent",
			"unmatched-protocol protocols[2].match.services: r follows none of the 5 sessions; the services are refund-agent",
			"unjudged-tool : no event rule is for the tool get_order (5 calls)",
			"unjudged-tool : no event rule is for the tool refund (4 calls)",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range cover(t, tt.policy, tt.traces).Findings() {
				got = append(got, fmt.Sprintf("%s %s: %s", f.Kind, f.Path, f.Message))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte("protocols:\n  - {name: p, protocol: \"!a\"}\n"))
	require.NoError(t, err)
	c := coverage.New(p)
	require.Equal(t, []coverage.Finding{{Kind: policy.WarnNoSession, Message: "nothing in the traces tells of an agent, so nothing can be said"}}, c.Findings())
	require.Equal(t, "0 sessions with 0 tool calls", c.Summary())
	require.Equal(t, "5 sessions with 9 tool calls, 1 of 1 event rule matched", cover(t, "protocols:\n  - {name: p, protocol: \"!a\", events: [{label: a, event: tool_call}]}\n", refunds).Summary())
}

// A contract for "not found" may seal an object without an entry in any list.
func TestNotFoundWithoutEntries(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(listContract("c", "[]", "null")))
	require.NoError(t, err)
	for claim, findings := range map[engine.ClaimType]int{engine.ClaimFound: 1, engine.ClaimNotFound: 0} {
		p.Contracts[0].Base.ClaimType = claim
		v, err := jsonvalue.Parse(`{"status":"NO_RESULTS","results":[]}`)
		require.NoError(t, err)
		c := coverage.New(p)
		c.Add(&score.Session{}, &score.Account{Calls: []score.CallAccount{{
			Tool: "search", Result: genai.Result{State: genai.Captured, Value: v},
			Trials: []score.Trial{{Contract: p.Contracts[0], Payload: engine.Payload{Value: v, Parsed: true}, Evaluation: engine.Evaluation{Decision: engine.Sealed}}},
		}}})
		require.Len(t, c.Findings(), findings, claim)
	}
}
