// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// tellUnread reports the spans that look like tool calls and that no dialect reads,
// by scope, and how to have them read. A verdict says nothing about them.
func tellUnread(w io.Writer, unread *genai.UnreadScopes) {
	const most = 10
	list, more := unread.List()
	if len(list) == 0 {
		return
	}
	spans := 0
	for _, u := range list {
		spans += u.Spans
	}
	look, them := "look", "them"
	if spans == 1 {
		look, them = "looks", "it"
	}
	fmt.Fprintf(w, "resultseal: %s %s like tool calls, and no dialect reads %s:\n", count(spans, "span"), look, them)
	for i, u := range list {
		if i == most {
			fmt.Fprintf(w, "  and %s more\n", count(len(list)-most, "scope"))
			break
		}
		attributes := "without attributes"
		if len(u.Attributes) > 0 {
			attributes = "with the attributes " + strings.Join(u.Attributes, ", ")
		}
		fmt.Fprintf(w, "  scope %s: %s, %s\n", cmp.Or(u.Scope, "(without a name)"), count(u.Spans, "span"), attributes)
	}
	if more {
		fmt.Fprintf(w, "  There are more scopes than are counted.\n")
	}
	fmt.Fprintf(w, "  Describe their attributes in a file for --dialects: docs/instrumentations.md#a-dialect-of-your-own\n")
}
