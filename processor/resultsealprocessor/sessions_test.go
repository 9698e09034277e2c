// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// The scripts in testdata/sessions run a whole processor, and show what stands
// on the spans that come out. The commands are:
//
//	policy          the policy, indented below; begins anew, with the next config
//	config mode=stream max_spans_per_trace=2 …
//	batch           spans that arrive now, as in spantest.AgentBatch; 0s is when the
//	                processor was started
//	wait 3s         lets time pass
//	reload          policy_file gets the content indented below and is read again
//	shutdown
//
// An answer is a line for each span that came out since, with what was written
// onto it: resultseal.* without the prefix, fingerprints and hashes. A reload says
// which policy is in force then, the one of the script's first policy command being
// the first; behind it, sessions name the policy that gave their verdict.
func TestSessionScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var got string
			synctest.Test(t, func(t *testing.T) { got = runSessionScript(t, string(text)) })
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

func runSessionScript(t *testing.T, text string) string {
	var (
		got      strings.Builder
		policy   string
		config   []string
		p        *testProcessor
		sink     *consumertest.TracesSink
		ticks    chan time.Time
		policies policyNumbers
		reloads  bool
		began    time.Time
	)
	stop := func() {
		if p != nil {
			p.shutdown(t)
			p = nil
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		got.WriteString(line + "\n")
		i++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		command := strings.Fields(line)
		var args []string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "  "); i++ {
			got.WriteString(lines[i] + "\n")
			args = append(args, lines[i])
		}
		if i < len(lines) && lines[i] == "----" {
			for ; i < len(lines) && lines[i] != ""; i++ { // the answers of before
			}
		}
		switch command[0] {
		case "policy":
			stop()
			policy, config = strings.Join(args, "\n"), nil
			policies.add(policy)
			continue
		case "config":
			stop()
			config = command[1:]
			continue
		}
		if p == nil {
			sink = new(consumertest.TracesSink)
			p = newScoringProcessor(t, sink, policy, func(c *Config) {
				c.NumShards = 1
				scriptConfig(t, c, config)
			})
			ticks = make(chan time.Time)
			p.reloader.ticks = ticks
			p.start(t)
			began = time.Now()
		}
		switch command[0] {
		case "batch":
			td := spantest.AgentBatch(t, args)
			shift(td, began.Sub(spantest.Epoch))
			require.NoError(t, p.ConsumeTraces(context.Background(), td))
		case "wait":
			d, err := time.ParseDuration(command[1])
			require.NoError(t, err)
			time.Sleep(d)
		case "reload":
			text := strings.Join(args, "\n")
			policies.add(text)
			reloads = true
			require.NoError(t, os.WriteFile(p.cfg.PolicyFile, []byte(text), 0o600))
			ticks <- time.Now()
			time.Sleep(2 * settleTime)
		case "shutdown":
			stop()
		default:
			t.Fatalf("unknown command %q", line)
		}
		synctest.Wait()
		got.WriteString("----\n")
		if command[0] == "reload" {
			got.WriteString(policies.name(p.revisions.Current().Revision.Scorer.Policy().Hash) + " is in force\n")
		} else if sink.SpanCount() == 0 {
			got.WriteString("nothing\n")
		}
		for _, td := range sink.AllTraces() {
			for span := range canonical.Spans(td) {
				describeAnnotated(&got, span)
				if hash, ok := span.Attributes().Get("resultseal.policy.hash"); ok && reloads {
					got.WriteString("  by " + policies.name(hash.Str()) + "\n")
				}
			}
		}
		sink.Reset()
	}
	stop()
	return got.String()
}

// shift moves spans in time.
func shift(td ptrace.Traces, d time.Duration) {
	for span := range canonical.Spans(td) {
		if span.StartTimestamp() > 0 {
			span.SetStartTimestamp(pcommon.NewTimestampFromTime(span.StartTimestamp().AsTime().Add(d)))
			span.SetEndTimestamp(pcommon.NewTimestampFromTime(span.EndTimestamp().AsTime().Add(d)))
		}
	}
}

// policyNumbers are the hashes of a script's valid policies, each once.
type policyNumbers []string

func (n *policyNumbers) add(text string) {
	if p, err := policy.Load("policy.yaml", []byte(text)); err == nil && !slices.Contains(*n, p.Hash) {
		*n = append(*n, p.Hash)
	}
}

func (n policyNumbers) name(hash string) string {
	return fmt.Sprint("policy ", 1+slices.Index(n, hash))
}

func scriptConfig(t *testing.T, c *Config, settings []string) {
	text := "policy_file: " + c.PolicyFile
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		text += "\n" + key + ": " + value
	}
	read, err := resolve(t, text)
	require.NoError(t, err)
	read.NumShards = 1
	*c = *read
}

func describeAnnotated(out *strings.Builder, span ptrace.Span) {
	id := span.TraceID()
	fmt.Fprintf(out, "%s/%s\n", strings.TrimRight(string(id[:]), "\x00"), span.Name())
	var lines []string
	for key, v := range span.Attributes().All() {
		if name, ok := strings.CutPrefix(key, "resultseal."); ok && name != "fingerprint" && name != "contract" && name != "claim_type" && name != "policy.hash" {
			lines = append(lines, fmt.Sprintf("  %s: %s", name, v.AsString()))
		} else if strings.HasPrefix(key, "gen_ai.tool.call.") && key != "gen_ai.tool.call.id" && !strings.HasPrefix(v.AsString(), "{") {
			lines = append(lines, fmt.Sprintf("  (%s: %s)", key, v.AsString()))
		}
	}
	slices.Sort(lines)
	for _, e := range span.Events().All() {
		if name, ok := strings.CutPrefix(e.Name(), "resultseal."); ok {
			event, _ := e.Attributes().Get("resultseal.protocol.event")
			reason, _ := e.Attributes().Get("resultseal.protocol.reason")
			lines = append(lines, fmt.Sprintf("  event %s: %s, %s", name, event.Str(), reason.Str()))
		}
	}
	for _, line := range lines {
		out.WriteString(line + "\n")
	}
}
