// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/report"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// failures are what --fail-on takes: a compliance, or "blocked" for a blocked
// observation.
var failures = []string{"violation", "inconclusive", "unrecognized", "incomplete", "blocked"}

type scoreOptions struct {
	policy string
	format string
	out    string
	failOn []string
	strict bool
	jobs   int
}

func newScoreCommand() *cobra.Command {
	var o scoreOptions
	cmd := &cobra.Command{
		Use:   "score --policy POLICY FILE...",
		Short: "Judge recorded traces by a policy",
		Long: `Judge recorded traces by a policy.

A FILE is OTLP as JSON (one request, one a line, or an array of them) or as
protobuf, or a download from Jaeger's page, plain or compressed with gzip or zstd.
What it is, is told by its content. FILE may be a directory, a glob, or "-" for
standard input. Spans of one trace may lie in several files.

A broken file or line is named and counted, and the rest is scored; the exit
code is then 2.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runScore(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", "", "the policy file (required)")
	f.StringVar(&o.format, "format", "", "table or json (default: table on a terminal, else json)")
	f.StringVar(&o.out, "out", "", "write to this file instead of standard output")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit 1 if a session came to one of these: "+strings.Join(failures, ", "))
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "how many goroutines parse and judge")
	f.BoolVar(&o.strict, "strict", false, "stop at the first broken file or line")
	return cmd
}

func runScore(cmd *cobra.Command, files []string, o *scoreOptions) error {
	if o.policy == "" {
		return invalidArgument("--policy is required")
	}
	for _, f := range o.failOn {
		if !slices.Contains(failures, f) {
			return invalidArgument(fmt.Sprintf("--fail-on %q is unknown; use %s", f, strings.Join(failures, ", ")))
		}
	}
	if o.format == "" {
		if o.format = "json"; o.out == "" && isTerminal(cmd.OutOrStdout()) {
			o.format = "table"
		}
	}
	if o.format != "table" && o.format != "json" {
		return invalidArgument(fmt.Sprintf("--format %q is unknown; use table or json", o.format))
	}
	text, err := os.ReadFile(o.policy)
	if err != nil {
		return invalidArgument("--policy: " + err.Error())
	}
	p, err := policy.Load(o.policy, text)
	if err != nil {
		return policyError(err)
	}

	paths, err := traceread.Paths(files)
	if err != nil {
		return invalidArgument(err.Error())
	}
	var traces traceread.Collection
	inputs := report.Inputs{Files: len(paths)}
	handler := traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error {
			traces.Add(td)
			return nil
		},
		Broken: func(e *traceread.Error) error {
			inputs.Broken++
			if o.strict {
				return e
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: %s\n", e)
			return nil
		},
	}
	if err := traceread.Read(paths, cmd.InOrStdin(), o.jobs, handler); err != nil {
		return invalidInput(err)
	}
	inputs.Spans = traces.Spans

	b := judge(traces.Traces(), score.New(p), o.jobs)
	b.Inputs(inputs)
	r := b.Report()
	if err := writeReport(cmd.OutOrStdout(), r, o); err != nil {
		return err
	}
	switch {
	case inputs.Broken > 0:
		return exitCode(2)
	case failed(r, o.failOn):
		return exitCode(1)
	}
	return nil
}

// conversations keeps the state of every conversation of the input.
type conversations map[string]*score.Conversation

// Conversation implements score.Conversations.
func (c conversations) Conversation(id string) *score.Conversation {
	if c[id] == nil {
		c[id] = &score.Conversation{}
	}
	return c[id]
}

// judge scores every trace. Traces are independent of each other unless a
// protocol follows conversations, whose traces are judged in order.
func judge(traces []ptrace.Traces, scorer *score.Scorer, jobs int) *report.Builder {
	if scorer.Conversational() {
		jobs = 1
	}
	type verdict struct {
		session *score.Session
		facts   []genai.Span
	}
	verdicts := make([]verdict, len(traces))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(max(jobs, 1), max(len(traces), 1)) {
		workers.Go(func() {
			decoder := genai.NewDecoder(genai.Options{})
			store := conversations{}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(traces) {
					return
				}
				facts, _ := decoder.Traces(traces[i])
				verdicts[i] = verdict{scorer.Trace(facts, store), facts}
			}
		})
	}
	workers.Wait()
	b := report.NewBuilder(scorer.Conversational())
	for _, v := range verdicts {
		if v.session != nil {
			b.Add(v.session, v.facts)
		}
	}
	return b
}

func failed(r *report.Report, on []string) bool {
	for _, f := range on {
		if f == "blocked" && r.Summary.Observations.Blocked > 0 || r.Summary.ByCompliance[f] > 0 {
			return true
		}
	}
	return false
}

func writeReport(stdout io.Writer, r *report.Report, o *scoreOptions) (err error) {
	w := stdout
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return invalidArgument("--out: " + err.Error())
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	if o.format == "json" {
		return r.JSON(w)
	}
	return r.Table(w, colours(w))
}
