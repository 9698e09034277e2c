// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/testkit"
)

// describedPolicy has the contracts and protocols of the samples. Three of them
// say what they are, and one has a severity only.
const describedPolicy = `contracts:
  - name: order
    severity: critical
    description: |
      A refund is made by what
      the order says.
    owner: shop & co
    runbook: https://wiki.example.com/orders?a=1&b=2
    <<: &rest {claim_type: found, required_fields: [x], freshness: {mode: not_required}, source_ref: s, target_ref: t}
  - {name: customer & co, severity: info, <<: *rest}
  - {name: refund, severity: critical, owner: payments, <<: *rest}
protocols:
  - {name: booking, protocol: "!a", severity: critical, owner: travel desk}
  - {name: reading <first>, protocol: "!a", runbook: "http://localhost/<reading>"}
`

// describedReports are the samples under that policy.
func describedReports(t *testing.T, conversational bool) *Report {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(describedPolicy))
	require.NoError(t, err)
	traces := samples()
	for i := range traces {
		v := traces[i].verdict
		for j := range v.Observations {
			for _, c := range p.Contracts {
				if o := &v.Observations[j]; o.Contract.Name == c.Name {
					known := *o.Contract
					known.Metadata = c.Metadata
					o.Contract = &known
				}
			}
		}
		for j := range v.Protocols {
			for _, c := range p.Protocols {
				if q := &v.Protocols[j]; q.Protocol.Name == c.Name {
					known := *q.Protocol
					known.Metadata = c.Metadata
					q.Protocol = &known
				}
			}
		}
	}
	b := NewBuilder(conversational)
	b.Policy = p
	for _, j := range traces {
		require.NoError(t, b.Add(j.trace()))
	}
	r, err := b.Report(sampleInputs)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// The JSON form has the severity beside each verdict, and what the policy says of
// its parts once.
func TestMetadataJSON(t *testing.T) {
	text := written(t, func(w *bytes.Buffer) error { return describedReports(t, false).JSON(w) })
	testkit.RequireSchema(t, scoreSchema, text)
	var doc struct {
		Sessions []Session
		Policy   Parts
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Equal(t, Parts{
		Contracts: []Part{
			{"order", "critical", "A refund is made by what\nthe order says.", "shop & co", "https://wiki.example.com/orders?a=1&b=2"},
			{Name: "customer & co", Severity: "info"},
			{Name: "refund", Severity: "critical", Owner: "payments"},
		},
		Protocols: []Part{
			{Name: "booking", Severity: "critical", Owner: "travel desk"},
			{Name: "reading <first>", Severity: "warning", Runbook: "http://localhost/%3Creading%3E"},
		},
	}, doc.Policy)
	severities := map[string]map[string]bool{}
	note := func(name, severity string) {
		if severities[name] == nil {
			severities[name] = map[string]bool{}
		}
		severities[name][severity] = true
	}
	for _, s := range doc.Sessions {
		for _, o := range s.Observations {
			note(o.Contract, o.Severity)
		}
		for _, p := range s.Protocols {
			note(p.Name, p.Severity)
		}
	}
	require.Equal(t, map[string]map[string]bool{
		"order": {"critical": true}, "customer & co": {"info": true}, "refund": {"critical": true},
		"booking": {"critical": true}, "reading <first>": {"warning": true},
	}, severities)
	require.Equal(t, 1, strings.Count(string(text), "shop & co"), "nothing is repeated for each session")
}

// sarifLog is what the tests read of a SARIF log.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []sarifRule
			}
		}
		Results []struct {
			RuleID     string
			RuleIndex  int
			Level      string
			Message    struct{ Text string }
			Properties struct{ Severity string }
		}
	}
}

type sarifRule struct {
	ID, Name, HelpURI     string
	Help, FullDescription struct{ Text string }
	DefaultConfiguration  struct{ Level string }
	Properties            struct{ Severity, Owner string }
	ShortDescription      struct{ Text string }
}

// In SARIF, the severity is the level, and a described part has rules of its own
// with help.
func TestMetadataSARIF(t *testing.T) {
	for _, conversational := range []bool{false, true} {
		text := written(t, func(w *bytes.Buffer) error { return describedReports(t, conversational).SARIF(w, "0.1.0", nil) })
		testkit.RequireSchema(t, sarifSchema, text)
		var log sarifLog
		require.NoError(t, json.Unmarshal(text, &log))
		rules := log.Runs[0].Tool.Driver.Rules
		byID := map[string]sarifRule{}
		for _, r := range rules {
			require.NotContains(t, byID, r.ID)
			byID[r.ID] = r
		}
		levels := map[string]string{}
		for _, r := range log.Runs[0].Results {
			require.Equal(t, r.RuleID, rules[r.RuleIndex].ID)
			levels[r.RuleID] = r.Level
		}
		require.Equal(t, map[string]string{
			"protocol-violation/booking":                "error",
			"protocol-incomplete/booking":               "error",
			"protocol-unrecognized/booking":             "error",
			"protocol-incomplete/reading%20%3Cfirst%3E": "warning",
			"protocol-inconclusive/booking":             "note",
			"protocol-violation/reading%20%3Cfirst%3E":  "warning",
			"SOURCE_MISMATCH/order":                     "error",
			"EMPTY_WITHOUT_NOT_FOUND_SENTINEL":          "note",
			"MISSING_REQUIRED_FIELD":                    "note",
			"RESULT_NOT_CAPTURED/refund":                "note",
			"session-unjudged":                          "note",
		}, levels)
		order := byID["SOURCE_MISMATCH/order"]
		require.Equal(t, "https://wiki.example.com/orders?a=1&b=2", order.HelpURI)
		require.Equal(t, describe.Reasons["SOURCE_MISMATCH"]+"\nA refund is made by what\nthe order says.\nowner: shop & co\nrunbook: https://wiki.example.com/orders?a=1&b=2", order.Help.Text)
		require.Equal(t, "A refund is made by what\nthe order says.", order.FullDescription.Text)
		require.Equal(t, "order: "+describe.Reasons["SOURCE_MISMATCH"], order.ShortDescription.Text)
		require.Equal(t, "error", order.DefaultConfiguration.Level)
		require.Equal(t, "shop & co", order.Properties.Owner)
		require.Empty(t, byID["protocol-violation/booking"].HelpURI)
	}

	// A policy without metadata has the common rules and no other.
	var log sarifLog
	require.NoError(t, json.Unmarshal(written(t, func(w *bytes.Buffer) error { return reports(t)["traces"].SARIF(w, "0.1.0", nil) }), &log))
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		require.NotContains(t, r.ID, "/")
	}
	for _, r := range log.Runs[0].Results {
		if r.RuleID == "protocol-violation" {
			require.Equal(t, "warning", r.Level, "the default severity")
		}
	}
}

// In JUnit, a test that did not pass has the metadata as properties.
func TestMetadataJUnit(t *testing.T) {
	text := written(t, func(w *bytes.Buffer) error { return describedReports(t, false).JUnit(w, nil) })
	checkJUnit(t, text)
	var doc struct {
		Suites []struct {
			Cases []struct {
				Class      string `xml:"classname,attr"`
				Properties []struct {
					Name  string `xml:"name,attr"`
					Value string `xml:"value,attr"`
				} `xml:"properties>property"`
				Failure *struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(text, &doc))
	seen := map[string]bool{}
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			var list []string
			for _, p := range c.Properties {
				if p.Name != "gaps" {
					list = append(list, p.Name+"="+p.Value)
				}
			}
			switch {
			case c.Failure == nil && c.Skipped == nil:
				require.Empty(t, list, "a test that passed: %s", c.Class)
			case strings.HasSuffix(c.Class, ".contract.order"):
				require.Equal(t, []string{"severity=critical", "description=A refund is made by what\nthe order says.", "owner=shop & co", "runbook=https://wiki.example.com/orders?a=1&b=2"}, list)
				require.Contains(t, c.Failure.Text, "\nowner: shop & co\nrunbook: https://wiki.example.com/orders?a=1&b=2\n")
				seen["order"] = true
			case strings.HasSuffix(c.Class, ".contract.customer & co"):
				require.Equal(t, []string{"severity=info"}, list)
				seen["customer"] = true
			}
		}
	}
	require.Len(t, seen, 2)
}

// In the table, what is severe comes first, with its owner.
func TestMetadataTable(t *testing.T) {
	golden(t, "metadata.txt", written(t, func(w *bytes.Buffer) error { return describedReports(t, false).Table(w, false) }))
}

// The page names severities, owners and runbooks, filters by severity, and orders
// by it.
func TestMetadataPage(t *testing.T) {
	b := openBrowser(t)
	const text = `contracts:
  - name: order
    severity: info
    description: "Two lines,\n<b>no markup</b>"
    owner: shop
    runbook: https://wiki.example.com/orders
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [order_id, status, total]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.order_id}"
    observation:
      source_ref: "shop://{result.source}"
      target_ref: "order:{result.order_id}"
protocols:
  - name: refunds
    severity: critical
    owner: payments
    runbook: http://localhost/refunds
    protocol: "!Read.?{Order.!Refund.end, NoFact.end}"
    events:
      - {label: Read, event: tool_call, tools: [get_order]}
      - {label: Order, event: tool_result, tools: [get_order], decision: sealed}
      - {label: NoFact, event: tool_result, tools: [get_order]}
      - {label: Refund, event: tool_call, tools: [refund]}
    after_end: violation
`
	file := writePage(t, pageOptions{example: unsealed, policy: text})
	b.open(file, "")
	require.Equal(t, "order info Two lines,\n<b>no markup</b> shop runbook", b.text(`[...document.querySelectorAll('#by-contract ~ table tbody tr *')].filter((e) => e.tagName !== 'A').map((e) => e.textContent).join(' ')`))
	require.Equal(t, "https://wiki.example.com/orders", b.text(`document.querySelector('#by-contract ~ table a').href`))
	require.Equal(t, "refunds critical", b.text(`document.querySelector('details.protocol summary').textContent.replace(/ !Read.*/, '')`))
	require.Equal(t, "owner payments runbook", b.text(`document.querySelector('details.protocol p').textContent`))
	require.Equal(t, "any critical info", b.text(`[...document.querySelectorAll('#severity option')].map((e) => e.textContent).join(' ')`))

	choose := func(id, value string) {
		b.eval(`(() => { const s = document.querySelector('`+id+`'); s.value = '`+value+`'; s.dispatchEvent(new Event('change', {bubbles: true})); })()`, nil)
	}
	count := func() string { return b.text(`document.querySelector('#count').textContent`) }
	choose("#severity", "critical")
	critical := count()
	require.Equal(t, "#severity=critical", b.text(`location.hash`))
	choose("#severity", "info")
	info := count()
	require.Equal(t, "2 of 5 sessions|1 of 5 sessions", critical+"|"+info, "a blocked result alone has the severity of its contract")
	choose("#severity", "critical")
	b.eval(`document.querySelector('#sessions tr.row button').click()`, nil)
	detail := b.text(`document.querySelector('tr.detail').innerText`)
	require.Contains(t, detail, "severity critical, owner payments, runbook")
	require.Contains(t, detail, "severity info, owner shop, runbook")
	require.Contains(t, detail, "<b>no markup</b>")
	require.Equal(t, "http://localhost/refunds", b.text(`document.querySelector('tr.detail .about a').href`))
	require.Contains(t, b.text(`document.querySelector('#sessions tr.row').cells[6].textContent`), "critical refunds: got !Refund")
	b.quiet()

	// Without metadata there is nothing to choose.
	b.open(writePage(t, pageOptions{example: unsealed}), "")
	require.True(t, b.number(`document.querySelector('#severity').closest('label').hidden ? 1 : 0`) == 1)
	require.Equal(t, 0, b.number(`document.querySelectorAll('#by-contract').length`))
	b.quiet()
}
