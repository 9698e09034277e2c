// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// The file exporter writes without a buffer only if it rotates, and what it had
// in a buffer would be gone with the process.
var restartConfiguration = template.Must(template.New("").Parse(`extensions:
  health_check: {endpoint: "127.0.0.1:{{.Ports.Health}}"}
  file_storage: {directory: "{{.Dir}}/storage", create_directory: true}
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:{{.Ports.GRPC}}"}
      http: {endpoint: "127.0.0.1:{{.Ports.HTTP}}"}
processors:
  resultseal:
    policy_file: "{{.Policy}}"
    storage: file_storage
    root_delay: 200ms
    idle_timeout: 1h
    max_age: 2h
exporters:
  file: {path: "{{.Dir}}/output", rotation: {max_megabytes: 100000}}
service:
  extensions: [health_check, file_storage]
  telemetry:
    logs: {encoding: json}
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: {{.Ports.Metrics}}}}}}]
  pipelines:
    traces: {receivers: [otlp], processors: [resultseal], exporters: [file]}
`))

const restartPolicy = `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [total]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "order:{arguments.id}"
protocols:
  - name: paid-once
    protocol: "rec X.!{order.?order.X, pay.?pay.end}"
    after_end: violation
`

// relaunched is a collector that is started again and again in the same place.
type relaunched struct {
	*collector
	dir, config string
}

func (r *relaunched) launch(t *testing.T) {
	t.Helper()
	r.collector = &collector{ports: r.ports}
	require.NoError(t, r.collector.launch(t, r.dir, r.config, filepath.Join(r.dir, fmt.Sprintf("log%d", time.Now().UnixNano()))))
}

// restartTrace is the n-th trace: a root and its tool calls. Every seventh pays
// too early, and every fifth has an order that proves nothing.
func restartTrace(n, spans int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	list := rs.ScopeSpans().AppendEmpty().Spans()
	var trace pcommon.TraceID
	binary.BigEndian.PutUint64(trace[:8], uint64(n)+1)
	for i := range spans {
		span := list.AppendEmpty()
		span.SetTraceID(trace)
		span.SetSpanID(number(uint64(n*spans + i + 1)))
		root := i == spans-1
		begin := madeUpStart.Add(time.Duration(i) * time.Second)
		if root {
			begin = madeUpStart.Add(-time.Second)
			span.SetName("invoke_agent clerk")
			span.SetEndTimestamp(pcommon.NewTimestampFromTime(madeUpStart.Add(time.Hour)))
			span.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
		} else {
			tool, result := "order", `{"total": 9}`
			switch {
			case i == spans-2, i == 1 && n%7 == 0:
				tool = "pay"
			case n%5 == 0 && i == 2:
				result = `{}`
			}
			span.SetName("execute_tool " + tool)
			span.SetParentSpanID(number(uint64(n*spans + spans)))
			span.SetEndTimestamp(pcommon.NewTimestampFromTime(begin.Add(time.Second / 2)))
			span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
			span.Attributes().PutStr("gen_ai.tool.name", tool)
			span.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprintf("call-%d-%d", n, i))
			span.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":%d}`, i))
			span.Attributes().PutStr("gen_ai.tool.call.result", result)
		}
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(begin))
	}
	return td
}

// sessionOf are the session's attributes on a span, without why it was judged
// when it was.
func sessionOf(span ptrace.Span) map[string]any {
	session := map[string]any{}
	for key, v := range span.Attributes().All() {
		if strings.HasPrefix(key, prefix+"session.") && key != prefix+"session.finalized_by" {
			session[key] = v.AsRaw()
		}
	}
	return session
}

// Under load, a collector with a storage is terminated twice, killed twice and
// reloaded.
// Every span whose sender was told that it was accepted comes out at least once,
// and each trace with the verdict that scoring without a collector gives it.
//
// RESULTSEAL_RESTART_TRACES is how many traces of ten spans are sent: 3000 by
// default, for which half a minute is enough; 20000 are the full size.
func TestNothingIsLostByRestarts(t *testing.T) {
	const spansEach, perRequest, senders = 10, 20, 4
	traces := 3000
	if n, err := strconv.Atoi(os.Getenv("RESULTSEAL_RESTART_TRACES")); err == nil && n > 0 {
		traces = n
	}
	r := &relaunched{dir: t.TempDir(), collector: &collector{ports: freePorts(t)}}
	policyPath := writePolicy(t, restartPolicy)
	r.config = filepath.Join(r.dir, "config.yaml")
	config, err := os.Create(r.config)
	require.NoError(t, err)
	require.NoError(t, restartConfiguration.Execute(config, struct {
		Ports       ports
		Dir, Policy string
	}{r.ports, r.dir, policyPath}))
	require.NoError(t, config.Close())
	r.launch(t)

	// Each request has halves of twenty traces: first those without the roots,
	// then those with them.
	var accepted, retries atomic.Int64
	total := int64(2 * ((traces + perRequest - 1) / perRequest))
	begin := time.Now()
	var group sync.WaitGroup
	client := r.collector // its ports stay the same
	for s := range senders {
		group.Go(func() {
			for first := s * perRequest; first < traces; first += senders * perRequest {
				for half := range 2 {
					td := ptrace.NewTraces()
					for n := first; n < min(first+perRequest, traces); n++ {
						one := restartTrace(n, spansEach)
						i := 0
						one.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(ptrace.Span) bool {
							i++
							return (i > spansEach/2) != (half == 1)
						})
						one.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
					}
					body, err := ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
					if err != nil {
						panic(err)
					}
					for {
						ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
						_, err := post(ctx, client, "application/x-protobuf", body)
						cancel()
						if err == nil {
							break
						}
						retries.Add(1)
						time.Sleep(20 * time.Millisecond)
					}
					accepted.Add(1)
				}
			}
		})
	}
	for i, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGKILL} {
		at := total * int64(i+1) / 7
		require.Eventually(t, func() bool { return accepted.Load() >= at }, 10*patience, time.Millisecond)
		r.signal(t, how)
		if how == syscall.SIGHUP { // it reads its configuration anew
			r.awaitLog(t, "Everything is ready", 2)
			continue
		}
		<-r.Exited
		if how == syscall.SIGTERM {
			require.NoError(t, r.Err, "the exit after SIGTERM")
		}
		r.launch(t)
	}
	group.Wait()
	sentAfter := time.Since(begin)

	// What came out.
	seen := map[pcommon.SpanID]int{}
	verdicts := map[pcommon.TraceID][]map[string]any{}
	var file *os.File
	require.Eventually(t, func() bool { file, err = os.Open(filepath.Join(r.dir, "output")); return err == nil },
		patience, 20*time.Millisecond, "nothing came out")
	defer file.Close()
	reader := bufio.NewReaderSize(file, 1<<20)
	var rest []byte
	cut := 0 // lines
	read := func() bool {
		for {
			line, err := reader.ReadBytes('\n')
			rest = append(rest, line...)
			if err != nil {
				return len(seen) == traces*spansEach && len(verdicts) == traces
			}
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(rest)
			if err != nil {
				// A kill cut through a line. Its trace comes again; what the next
				// process wrote stands behind it.
				cut++
				td, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(rest[bytes.LastIndex(rest, []byte(`{"resourceSpans"`)):])
			}
			rest = rest[:0]
			if err != nil {
				continue
			}
			for _, one := range takeApart(td) {
				span := one.span()
				seen[span.SpanID()]++
				if session := sessionOf(span); len(session) > 0 {
					verdicts[span.TraceID()] = append(verdicts[span.TraceID()], session)
				}
			}
		}
	}
	for deadline := time.Now().Add(patience); !read(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d spans and %d of %d verdicts came out, %d lines were cut through, %v traces are held",
				len(seen), traces*spansEach, len(verdicts), traces, cut, r.metric(t, "otelcol_processor_resultseal_traces_active"))
		}
	}
	r.stop(t)
	read()

	offline := newOffline(t, policyPath)
	decoder := genai.NewDecoder(genai.Options{})
	twice := 0
	for n := range traces {
		td := restartTrace(n, spansEach)
		facts, spans := decoder.Traces(td)
		v := offline.scorer.Trace(facts, nil)
		offline.writer.Session(spans, v, "")
		want := sessionOf(spans[spansEach-1])
		require.NotEmpty(t, want)
		for _, got := range verdicts[spans[0].TraceID()] {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("trace %d:\n%s", n, diff)
			}
		}
		twice += len(verdicts[spans[0].TraceID()]) - 1
	}
	again := 0
	for _, n := range seen {
		again += n - 1
	}
	t.Logf("%d spans in %d traces were accepted in %v with %d requests sent again; %d spans and %d verdicts came twice, %d lines were cut through",
		traces*spansEach, traces, sentAfter.Round(time.Millisecond), retries.Load(), again, twice, cut)
}
