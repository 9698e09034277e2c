// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
)

func TestNamespaceHas(t *testing.T) {
	n := annotate.Namespace("resultseal.")
	for name, want := range map[string]bool{
		"resultseal.": true, "resultseal.decision": true, "resultseal.session.compliance": true,
		"": false, "r": false, "resultseal": false, "resultseal_decision": false, "Resultseal.decision": false,
		"acme.resultseal.decision": false, "rpc.system": false,
	} {
		require.Equal(t, want, n.Has(name), name)
	}
}

// others are names that are nobody's but the sender's.
var others = []string{"", "a", "rpc.system", "resultseal", "resultsealed.x", "acme.resultseal.decision", "gen_ai.tool.name"}

// drawnTraces draws traces with attributes wherever there may be some. forge is
// called for each place and adds what does not belong there.
func drawnTraces(t *rapid.T, forge func(places)) ptrace.Traces {
	count := func(what string) int { return rapid.IntRange(0, 2).Draw(t, what) }
	attributes := func(m pcommon.Map) pcommon.Map {
		for range rapid.IntRange(0, 3).Draw(t, "attributes") {
			value := m.PutEmpty(rapid.SampledFrom(others).Draw(t, "name"))
			switch rapid.IntRange(0, 2).Draw(t, "type") {
			case 0:
				value.SetStr("resultseal.decision")
			case 1:
				value.SetInt(7)
			case 2:
				value.SetEmptyMap().PutStr("resultseal.decision", "sealed")
			}
		}
		return m
	}
	td := ptrace.NewTraces()
	for range count("resources") {
		rs := td.ResourceSpans().AppendEmpty()
		attributes(rs.Resource().Attributes())
		refs := entity.ResourceEntityRefs(rs.Resource())
		for range count("entities") {
			ref := refs.AppendEmpty()
			ref.SetType("service")
			for range count("ids") {
				ref.IdKeys().Append("service.name")
			}
			ref.DescriptionKeys().Append("service.version")
		}
		forge(places{attributes: rs.Resource().Attributes(), refs: &refs})
		for range count("scopes") {
			ss := rs.ScopeSpans().AppendEmpty()
			forge(places{attributes: attributes(ss.Scope().Attributes())})
			for range count("spans") {
				span := ss.Spans().AppendEmpty()
				span.SetName("resultseal.gate")
				for range count("events") {
					event := span.Events().AppendEmpty()
					event.SetName(rapid.SampledFrom([]string{"exception", "resultseal", "gen_ai.evaluation.result"}).Draw(t, "event"))
					attributes(event.Attributes())
					if event.Name() == "gen_ai.evaluation.result" {
						event.Attributes().PutStr("gen_ai.evaluation.name", "helpfulness")
					}
					forge(places{attributes: event.Attributes()})
				}
				for range count("links") {
					forge(places{attributes: attributes(span.Links().AppendEmpty().Attributes())})
				}
				events := span.Events()
				forge(places{attributes: attributes(span.Attributes()), events: &events})
			}
		}
	}
	return td
}

// places are where something can be forged; the lists are nil where there are
// none.
type places struct {
	attributes pcommon.Map
	events     *ptrace.SpanEventSlice
	refs       *entity.EntityRefSlice
}

// forge adds names under prefix, at the beginning and at the end.
func (p places) forge(t *rapid.T, prefix string) {
	draw := func(what string) bool { return rapid.Bool().Draw(t, what) }
	name := func() string {
		return prefix + rapid.SampledFrom([]string{"", "decision", "session.compliance", "late"}).Draw(t, "forged")
	}
	if draw("before") {
		old := pcommon.NewMap()
		p.attributes.MoveTo(old)
		p.attributes.PutStr(name(), "sealed")
		for key, value := range old.All() {
			value.CopyTo(p.attributes.PutEmpty(key))
		}
	}
	if draw("after") {
		p.attributes.PutEmptySlice(name()).AppendEmpty().SetStr("compliant")
	}
	if p.events != nil && draw("event") {
		p.events.AppendEmpty().SetName(name())
	}
	if p.events != nil && draw("evaluation") {
		event := p.events.AppendEmpty()
		event.SetName("gen_ai.evaluation.result")
		event.Attributes().PutStr("gen_ai.evaluation.name", name()+"seal")
	}
	if p.refs != nil && draw("entity") {
		p.refs.AppendEmpty().IdKeys().Append(name())
		for _, ref := range p.refs.All() {
			ref.DescriptionKeys().Append(name())
		}
	}
}

// What is forged goes, wherever it is, and everything else stays to the byte.
func TestCleanRemovesWhatIsForged(t *testing.T) {
	var marshal ptrace.ProtoMarshaler
	text := func(t *rapid.T, td ptrace.Traces) string {
		data, err := marshal.MarshalTraces(td)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"resultseal.", "acme_"}).Draw(t, "prefix")
		var all []places
		td := drawnTraces(t, func(p places) { all = append(all, p) })
		want := text(t, td)
		annotate.Namespace(prefix).Clean(td)
		if got := text(t, td); got != want {
			t.Fatalf("nothing was forged, yet something was removed:\n%q\n%q", want, got)
		}
		for _, p := range all {
			p.forge(t, prefix)
		}
		if text(t, td) != want {
			found++
		}
		annotate.Namespace(prefix).Clean(td)
		if got := text(t, td); got != want {
			t.Fatalf("forged names were not removed, or something else was:\n%q\n%q", want, got)
		}
	})
	require.Positive(t, found)
}

// A name that comes twice does not hide a forged one behind another.
func TestCleanLooksAtEveryCopyOfAName(t *testing.T) {
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{
		"attributes":[%[1]s,%[2]s,%[1]s],
		"events":[{"name":"gen_ai.evaluation.result","attributes":[
			{"key":"gen_ai.evaluation.name","value":{"stringValue":"mine"}},
			{"key":"gen_ai.evaluation.name","value":{"stringValue":"resultseal.seal"}}]}]}]}]}]}`,
		`{"key":"resultseal.decision","value":{"stringValue":"sealed"}}`, `{"key":"a","value":{"intValue":"1"}}`)))
	require.NoError(t, err)
	annotate.Namespace(annotate.DefaultPrefix).Clean(td)
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	require.Equal(t, map[string]any{"a": int64(1)}, span.Attributes().AsRaw())
	require.Zero(t, span.Events().Len())
}
