// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Which list is what results are about, if there is one.
func TestListPayload(t *testing.T) {
	for _, tc := range []struct {
		name, tool, arguments string
		results               []string
		payload               string // "" if it is no list
	}{
		{"a list and a count", "web_search", `{"q":"x"}`, []string{`{"results":[],"total":0}`, `{"results":[{"id":"1"}],"total":1}`}, "$.results"},
		{"a list alone", "web_search", `{"q":"x"}`, []string{`{"chunks":[{"id":"1"}]}`, `{"chunks":[{"id":"2"}]}`}, "$.chunks"},
		{"in objects", "search_docs", `{"q":"x"}`, []string{
			`{"took":3,"timed_out":false,"_shards":{"total":5,"name":"a"},"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"id":"1"}]}}`,
		}, "$.hits.hits"},
		{"under a wrapper", "search_docs", `{"q":"x"}`, []string{`{"data":{"rows":[1],"count":1}}`}, "$.data.rows"},
		{"beside what was asked for", "search_docs", `{"phrase":"x y"}`, []string{`{"phrase":"x y","rows":[1]}`}, "$.rows"},
		{"beside pages, words and errors", "list_orders", `{}`, []string{`{"object":"list","data":[{"id":"1"}],"has_more":false,"url":"/orders","errors":[],"next_cursor":"c","message":"1 order"}`}, "$.data"},
		{"a name that a path writes in quotation marks", "search_docs", `{}`, []string{`{"the rows":[1]}`}, `$[\"the rows\"]`},
		{"a hyphen", "search_docs", `{}`, []string{`{"the-rows":[1]}`}, `$[\"the-rows\"]`},
		{"a list of a thing", "find_customer", `{"email":"a@b.test"}`, []string{`{"customer_id":"1","name":"Ada","tags":[]}`}, ""},
		{"a list of a thing with a number", "find_order", `{"email":"a@b.test"}`, []string{`{"order_id":1,"items":[]}`}, ""},
		{"two lists", "search_docs", `{}`, []string{`{"docs":[1],"images":[]}`}, ""},
		{"another list in another result", "search_docs", `{}`, []string{`{"docs":[1]}`, `{"images":[1]}`}, ""},
		{"not in every result", "search_docs", `{}`, []string{`{"docs":[1]}`, `{"count":0}`}, ""},
		{"an effect", "send_emails", `{}`, []string{`{"failed":[]}`}, ""},
		{"an argument that comes back, and never an empty list", "get_orders", `{"customer_id":"42"}`, []string{`{"customer_id":"42","orders":[1]}`}, ""},
		{"an argument that comes back, and an empty list", "get_orders", `{"customer_id":"42"}`, []string{`{"customer_id":"42","orders":[1]}`, `{"customer_id":"42","orders":[]}`}, "$.orders"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls []score.CallAccount
			for _, result := range tc.results {
				calls = append(calls, called(t, tc.tool, tc.arguments, result))
			}
			l := New()
			l.Add(sessionOf("", false, calls...))
			text, _ := written(t, l, Options{Tails: -1})
			if tc.payload == "" {
				require.NotContains(t, text, "only list")
				return
			}
			require.Contains(t, text, `payload: "`+tc.payload+`" # the only list`)
			require.Contains(t, text, "required_fields: []")
		})
	}
}

// A tool that returns nothing by design has no contract, however it writes that.
func TestNoContractForNothing(t *testing.T) {
	for _, result := range []string{
		`null`, `""`, `" \n"`, `"None"`, `"null"`, `"undefined"`, `"nil"`, `{}`, `[]`, `{"result":null}`, `{"output":{"value":"None"}}`, `{"rows":[]}`, `{"rows":[],"total":0}`,
	} {
		t.Run(result, func(t *testing.T) {
			l := New()
			l.Add(sessionOf("", false, called(t, "get_notes", `{"id":"1"}`, result), called(t, "get_notes", `{"id":"2"}`, result)))
			text, summary := written(t, l, Options{Tails: -1})
			require.Zero(t, summary.Contracts, text)
			require.Contains(t, text, "get_notes: 2 calls (2 have a ")
			require.Contains(t, text, "so there is nothing to make a contract of")
		})
	}
	// One that sometimes returns nothing has one.
	l := New()
	l.Add(sessionOf("", false, called(t, "get_notes", `{"id":"1"}`, `"None"`), called(t, "get_notes", `{"id":"2"}`, `{"note":"x"}`)))
	text, summary := written(t, l, Options{Tails: -1})
	require.Equal(t, 1, summary.Contracts)
	require.Contains(t, text, "get_notes: 2 calls, 1 with a result that says something")
	require.NotContains(t, text, "not_found")
}
