// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// prefix begins everything that the processor writes.
const prefix = "resultseal."

// record is one span with the resource and the scope that it lies under.
type record struct{ traces ptrace.Traces }

// spanID names a span.
type spanID struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

func (id spanID) String() string { return id.trace.String() + "/" + id.span.String() }

func (r record) resourceSpans() ptrace.ResourceSpans { return r.traces.ResourceSpans().At(0) }

func (r record) scopeSpans() ptrace.ScopeSpans { return r.resourceSpans().ScopeSpans().At(0) }

func (r record) span() ptrace.Span { return r.scopeSpans().Spans().At(0) }

func (r record) id() spanID { return spanID{r.span().TraceID(), r.span().SpanID()} }

// attribute returns a span's attribute as text, "" if it has none.
func (r record) attribute(name string) string {
	if v, ok := r.span().Attributes().Get(name); ok {
		return v.AsString()
	}
	return ""
}

// event returns the first span event of a name.
func (r record) event(name string) (ptrace.SpanEvent, bool) {
	for _, e := range r.span().Events().All() {
		if e.Name() == name {
			return e, true
		}
	}
	return ptrace.SpanEvent{}, false
}

// encoded is the record as protobuf: equal for two records if and only if they
// are the same to the byte, order of attributes included.
func (r record) encoded() []byte {
	data, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(r.traces)
	if err != nil {
		panic(err) // protobuf holds whatever pdata holds
	}
	return data
}

// readable is the record as JSON, for a failure's message.
func (r record) readable() string {
	data, err := (&ptrace.JSONMarshaler{}).MarshalTraces(r.traces)
	if err != nil {
		return err.Error()
	}
	text := strings.NewReplacer(`{"key":`, "\n"+`{"key":`, `{"time`, "\n"+`{"time`).Replace(string(data))
	if len(text) > 20_000 {
		text = text[:20_000] + "…"
	}
	return text
}

func (r record) copy() record {
	td := ptrace.NewTraces()
	r.traces.CopyTo(td)
	return record{td}
}

// bare is a copy without what the processor writes.
func (r record) bare() record {
	c := r.copy()
	c.span().Attributes().RemoveIf(func(name string, _ pcommon.Value) bool { return strings.HasPrefix(name, prefix) })
	c.span().Events().RemoveIf(func(e ptrace.SpanEvent) bool { return strings.HasPrefix(e.Name(), prefix) })
	return c
}

// inVariant is a copy under another trace id, so that the same recording can be
// sent several times. The same variant twice gives the original back.
func (r record) inVariant(variant byte) record {
	c := r.copy()
	c.span().SetTraceID(variantID(r.id().trace, variant))
	return c
}

func variantID(id pcommon.TraceID, variant byte) pcommon.TraceID {
	id[0] ^= variant
	return id
}

// variantOf is a trace id as text under a variant.
func variantOf(t *testing.T, text string, variant byte) (id pcommon.TraceID) {
	t.Helper()
	n, err := hex.Decode(id[:], []byte(text))
	require.NoError(t, err)
	require.Len(t, id, n)
	return variantID(id, variant)
}

// takeApart copies the spans of a batch.
func takeApart(td ptrace.Traces) []record {
	var out []record
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				r := record{ptrace.NewTraces()}
				toResource := r.traces.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(toResource.Resource())
				toResource.SetSchemaUrl(rs.SchemaUrl())
				toScope := toResource.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(toScope.Scope())
				toScope.SetSchemaUrl(ss.SchemaUrl())
				span.CopyTo(toScope.Spans().AppendEmpty())
				out = append(out, r)
			}
		}
	}
	return out
}

// putTogether makes one batch of copies. Neighbours under the same resource and
// scope share them, as they do in an SDK's request.
func putTogether(records []record) ptrace.Traces {
	td := ptrace.NewTraces()
	var last, lastResource []byte
	var spans ptrace.SpanSlice
	var scopes ptrace.ScopeSpansSlice
	for _, r := range records {
		without := r.copy()
		without.scopeSpans().Spans().RemoveIf(func(ptrace.Span) bool { return true })
		whole := without.encoded()
		without.resourceSpans().ScopeSpans().RemoveIf(func(ptrace.ScopeSpans) bool { return true })
		resource := without.encoded()
		if lastResource == nil || !bytes.Equal(resource, lastResource) {
			to := td.ResourceSpans().AppendEmpty()
			r.resourceSpans().Resource().CopyTo(to.Resource())
			to.SetSchemaUrl(r.resourceSpans().SchemaUrl())
			scopes, last, lastResource = to.ScopeSpans(), nil, resource
		}
		if last == nil || !bytes.Equal(whole, last) {
			to := scopes.AppendEmpty()
			r.scopeSpans().Scope().CopyTo(to.Scope())
			to.SetSchemaUrl(r.scopeSpans().SchemaUrl())
			spans, last = to.Spans(), whole
		}
		r.span().CopyTo(spans.AppendEmpty())
	}
	return td
}

// byTrace sorts records into their traces.
func byTrace(records []record) map[pcommon.TraceID][]record {
	out := map[pcommon.TraceID][]record{}
	for _, r := range records {
		out[r.id().trace] = append(out[r.id().trace], r)
	}
	return out
}

// root is the span that carries the verdict of a trace: the only one without a
// parent.
func root(t *testing.T, trace []record) record {
	t.Helper()
	var roots []record
	for _, r := range trace {
		if r.span().ParentSpanID().IsEmpty() {
			roots = append(roots, r)
		}
	}
	require.Len(t, roots, 1, "roots of trace %v", trace[0].id().trace)
	return roots[0]
}

// carrier is the span of a trace that carries its verdict, whichever it is; the
// test fails if it is not exactly one.
func carrier(t *testing.T, trace []record) record {
	t.Helper()
	var found []record
	for _, r := range trace {
		if r.attribute(prefix+"session.compliance") != "" {
			found = append(found, r)
		}
	}
	require.Len(t, found, 1, "spans with a verdict on trace %v", trace[0].id().trace)
	return found[0]
}

// ordered sorts a copy by id, and spans of one id by what they hold.
func ordered(records []record) []record {
	return slices.SortedFunc(slices.Values(records), func(a, b record) int {
		x, y := a.id(), b.id()
		return cmp.Or(
			bytes.Compare(x.trace[:], y.trace[:]),
			bytes.Compare(x.span[:], y.span[:]),
			bytes.Compare(a.encoded(), b.encoded()),
		)
	})
}

// requireSame requires the same spans, each as many times, and each the same to
// the byte. what says what is compared.
func requireSame(t *testing.T, want, got []record, what string) {
	t.Helper()
	counts := map[spanID]int{}
	for _, r := range want {
		counts[r.id()]++
	}
	for _, r := range got {
		counts[r.id()]--
	}
	var wrong []string
	for id, n := range counts {
		switch {
		case n > 0:
			wrong = append(wrong, fmt.Sprintf("%v is missing %d times", id, n))
		case n < 0:
			wrong = append(wrong, fmt.Sprintf("%v came %d times too often", id, -n))
		}
	}
	slices.Sort(wrong)
	require.Empty(t, wrong, "%s: %d spans expected, %d came", what, len(want), len(got))

	want, got = ordered(want), ordered(got)
	for i := range want {
		if !bytes.Equal(want[i].encoded(), got[i].encoded()) {
			require.Equal(t, want[i].readable(), got[i].readable(), "%s: span %v", what, want[i].id())
			t.Fatalf("%s: span %v differs in bytes that JSON does not show", what, want[i].id())
		}
	}
}

// requireUntouched requires that what was sent came out, each span once, and
// that nothing but annotations was added to it.
func requireUntouched(t *testing.T, sent, got []record) {
	t.Helper()
	bare := make([]record, len(got))
	for i, r := range got {
		bare[i] = r.bare()
	}
	requireSame(t, sent, bare, "spans without annotations")
}
