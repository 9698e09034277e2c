// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // exporters compress with it
)

const (
	workers = 2
	copies  = 10 // of each recorded trace, so that both workers have several of each
)

// death is when a worker is killed that holds all of its traces but their roots.
type death int

const (
	never     death = iota
	atOnce          // what it read may not be committed, and then comes again
	committed       // what it read never comes again, and is in its storage alone
)

// What comes out must be the same whether or not a worker is killed.
func TestTiers(t *testing.T) {
	calm := through(t, never)
	require.Len(t, calm, 4*copies)
	compliance := map[string]int{}
	for id, trace := range calm {
		for span, n := range trace.spans {
			require.Equal(t, 1, n, "span %s of %s came %d times", span, id, n)
		}
		compliance[fmt.Sprint(trace.root["resultseal.session.compliance"])] += 1
	}
	require.GreaterOrEqual(t, len(compliance), 2, "the recording has sessions of several kinds: %v", compliance)

	for _, when := range []death{atOnce, committed} {
		killed := through(t, when)
		require.Len(t, killed, len(calm))
		for id, trace := range killed {
			require.Equal(t, calm[id].root, trace.root, "the verdict of %s", id)
			require.Equal(t, keys(calm[id].spans), keys(trace.spans), "the spans of %s", id)
		}
	}
}

// judged is a trace as the backend got it.
type judged struct {
	spans map[pcommon.SpanID]int // how often each came
	root  map[string]any         // what was written onto its root
}

func keys(spans map[pcommon.SpanID]int) map[pcommon.SpanID]bool {
	out := map[pcommon.SpanID]bool{}
	for id := range spans {
		out[id] = true
	}
	return out
}

// through sends the recorded traces through both tiers and returns what comes
// out.
func through(t *testing.T, kill death) map[pcommon.TraceID]judged {
	t.Helper()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, "otlp_spans"))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	brokers := "KAFKA_BROKERS=" + broker.ListenAddrs()[0]
	to := startBackend(t)

	dirs := make([]string, workers)
	for n := range dirs {
		dirs[n] = filepath.Join(t.TempDir(), "held")
	}
	begin := func(n int) *collector {
		return run(t, "tier2.yaml", brokers, fmt.Sprintf("RESULTSEAL_WORKER=resultseal-%d", n), "RESULTSEAL_STORAGE="+dirs[n],
			"RESULTSEAL_BACKEND="+to.address, "RESULTSEAL_ROOT_DELAY=500ms", "RESULTSEAL_IDLE_TIMEOUT=5m")
	}
	front := run(t, "tier1.yaml", brokers)
	var tier2 []*collector
	for n := range workers {
		tier2 = append(tier2, begin(n))
	}
	waitForMembers(t, broker)

	sent := recorded(t)
	roots := func(span ptrace.Span) bool { return span.ParentSpanID().IsEmpty() }
	for _, td := range sent {
		front.send(t, without(t, td, roots))
	}
	require.Eventually(t, func() bool {
		sum := 0
		for _, w := range tier2 {
			sum += w.held(t)
		}
		return sum == len(sent)
	}, patience, 50*time.Millisecond, "not all traces are held")
	for _, w := range tier2 {
		require.NotZero(t, w.held(t), "a worker has nothing to do")
	}
	require.Empty(t, to.got())
	if kill == committed {
		waitForCommits(t, broker)
	}
	if kill != never {
		tier2[1].kill()
	}
	for _, td := range sent {
		front.send(t, without(t, td, func(span ptrace.Span) bool { return !roots(span) }))
	}
	if kill != never {
		tier2[1] = begin(1)
	}
	require.Eventually(t, func() bool { return len(to.got()) == len(sent) }, patience, 50*time.Millisecond, "not all traces came")
	front.stop(t)
	for _, w := range tier2 { // what they still hold goes on, and would show here
		w.stop(t)
	}

	want := map[pcommon.TraceID]map[pcommon.SpanID]bool{}
	for _, td := range sent {
		each(td, func(span ptrace.Span) {
			if want[span.TraceID()] == nil {
				want[span.TraceID()] = map[pcommon.SpanID]bool{}
			}
			want[span.TraceID()][span.SpanID()] = true
		})
	}
	got := to.got()
	require.Len(t, got, len(want))
	for id, trace := range got {
		require.Equal(t, want[id], keys(trace.spans), "the spans of %s", id)
		require.Equal(t, "root", trace.root["resultseal.session.finalized_by"])
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	require.Empty(t, to.wrong)
	return got
}

// waitForMembers waits until each worker has its partitions.
func waitForMembers(t *testing.T, broker *kfake.Cluster) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	require.NoError(t, err)
	defer client.Close()
	require.Eventually(t, func() bool {
		groups, err := kadm.NewClient(client).DescribeGroups(context.Background(), "resultseal")
		if err != nil {
			return false
		}
		group := groups["resultseal"]
		if group.State != "Stable" || len(group.Members) != workers {
			return false
		}
		partitions := 0
		for _, member := range group.Members {
			assigned, ok := member.Assigned.AsConsumer()
			if !ok || len(assigned.Topics) == 0 || len(assigned.Topics[0].Partitions) == 0 {
				return false
			}
			partitions += len(assigned.Topics[0].Partitions)
		}
		return partitions == 8
	}, patience, 50*time.Millisecond, "the workers have no partitions")
}

// waitForCommits waits until all that was written counts as read.
func waitForCommits(t *testing.T, broker *kfake.Cluster) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	require.NoError(t, err)
	defer client.Close()
	require.Eventually(t, func() bool {
		admin := kadm.NewClient(client)
		written, err := admin.ListEndOffsets(context.Background(), "otlp_spans")
		if err != nil || written.Error() != nil {
			return false
		}
		read, err := admin.FetchOffsets(context.Background(), "resultseal")
		if err != nil {
			return false
		}
		ok := true
		written.Each(func(end kadm.ListedOffset) {
			at, known := read.Lookup(end.Topic, end.Partition)
			ok = ok && (end.Offset == 0 || known && at.At == end.Offset)
		})
		return ok
	}, patience, 50*time.Millisecond, "what was read is not committed")
}

// recorded are the recorded traces, each several times under ids of its own that
// are the same in every call.
func recorded(t *testing.T) []ptrace.Traces {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "testdata", "quickstart", "support.jsonl"))
	require.NoError(t, err)
	var out []ptrace.Traces
	for line := range bytes.Lines(text) {
		for n := range copies {
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(t, err)
			ids := map[pcommon.TraceID]bool{}
			each(td, func(span ptrace.Span) {
				id := span.TraceID()
				binary.BigEndian.PutUint32(id[:], uint32(n))
				span.SetTraceID(id)
				ids[id] = true
			})
			require.Len(t, ids, 1, "a line is a trace")
			out = append(out, td)
		}
	}
	return out
}

func each(td ptrace.Traces, f func(ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				f(span)
			}
		}
	}
}

// without is a request with the spans that are not removed.
func without(t *testing.T, td ptrace.Traces, remove func(ptrace.Span) bool) []byte {
	t.Helper()
	rest := ptrace.NewTraces()
	td.CopyTo(rest)
	for _, rs := range rest.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(remove)
		}
	}
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(rest)
	require.NoError(t, err)
	return text
}

// backend takes what comes out.
type backend struct {
	ptraceotlp.UnimplementedGRPCServer
	address string

	mu     sync.Mutex
	traces map[pcommon.TraceID]judged
	wrong  []string
}

func startBackend(t *testing.T) *backend {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &backend{address: listener.Addr().String(), traces: map[pcommon.TraceID]judged{}}
	server := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, b)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return b
}

func (b *backend) Export(_ context.Context, request ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	each(request.Traces(), func(span ptrace.Span) {
		trace, ok := b.traces[span.TraceID()]
		if !ok {
			trace = judged{spans: map[pcommon.SpanID]int{}}
		}
		trace.spans[span.SpanID()]++
		written := map[string]any{}
		for name, value := range span.Attributes().All() {
			if strings.HasPrefix(name, "resultseal.session.") {
				written[name] = value.AsRaw()
			}
		}
		if len(written) > 0 {
			// A root that came twice must not say two things.
			if trace.root != nil && fmt.Sprint(trace.root) != fmt.Sprint(written) {
				b.wrong = append(b.wrong, fmt.Sprintf("%s was judged twice: %v and %v", span.TraceID(), trace.root, written))
			}
			trace.root = written
		}
		b.traces[span.TraceID()] = trace
	})
	return ptraceotlp.NewExportResponse(), nil
}

// got is what came so far, of traces that were judged.
func (b *backend) got() map[pcommon.TraceID]judged {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[pcommon.TraceID]judged{}
	for id, trace := range b.traces {
		if trace.root != nil {
			spans := map[pcommon.SpanID]int{}
			for span, n := range trace.spans {
				spans[span] = n
			}
			out[id] = judged{spans: spans, root: trace.root}
		}
	}
	return out
}
