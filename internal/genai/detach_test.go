// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Facts that were detached do not change when the span does.
func TestDetachedFactsStay(t *testing.T) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "crm")
	rs.Resource().Attributes().PutStr("region", "north")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	span.Attributes().PutStr("gen_ai.tool.name", "search")
	span.Attributes().PutStr("kept", "as it was")
	result := span.Attributes().PutEmptyMap("gen_ai.tool.call.result")
	result.PutStr("name", "Ada")

	facts, _ := NewDecoder(Options{}).Traces(td)
	s := &facts[0]
	count := s.Attributes()
	s.Detach([]string{"kept", "not there"}, []string{"region"})
	result.PutStr("name", "somebody else")
	span.Attributes().Clear()
	rs.Resource().Attributes().Clear()

	require.Equal(t, count, s.Attributes())
	name, _ := s.Call.Result.Value.Get("name")
	require.Equal(t, "Ada", name.Text())
	v, ok := s.Attribute("kept")
	require.True(t, ok)
	require.Equal(t, "as it was", v.Text())
	_, ok = s.Attribute("gen_ai.tool.name")
	require.False(t, ok)
	v, ok = s.ResourceAttribute("region")
	require.True(t, ok)
	require.Equal(t, "north", v.Text())
	_, ok = s.ResourceAttribute("service.name")
	require.False(t, ok)
	require.Equal(t, "crm", s.Service)
}
