// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/learn"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/report"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

type initOptions struct {
	out   string
	force bool
	tails int
	input inputOptions
}

func newInitCommand() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init TRACES...",
		Short: "Make a first policy from recorded traces",
		Long: `Make a first policy from recorded traces.

It has a contract for each tool, guessed from the tool's name and from what its
results have in common, and a protocol, learned from the order of calls and
messages. Each guess has its reason in a comment. Every run is taken as correct, so
record good runs.

TRACES are what score takes. The policy goes to standard output, or to --out,
which is not overwritten without --force. On standard error it is said what the
traces come to by it.`,
		Example: `  resultseal init good-runs/*.jsonl --out policy.yaml
  resultseal score --policy policy.yaml --format html --out report.html runs/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runInit(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write the policy to this file instead of standard output")
	f.BoolVar(&o.force, "force", false, "overwrite the file of --out")
	f.IntVar(&o.tails, "tails", -1, "how many events ahead two states have to agree to be taken for one; less allows more (default: 2, or less where the protocol would be too large)")
	o.input.register(cmd)
	return cmd
}

// maxTails bounds --tails. More events than these hardly ever distinguish two states.
const maxTails = 8

func runInit(cmd *cobra.Command, files []string, o *initOptions) error {
	if o.out != "" && !o.force {
		if _, err := os.Stat(o.out); !errors.Is(err, fs.ErrNotExist) {
			return invalidArgument(o.out + " is there already; --force overwrites it")
		}
	}
	if err := o.input.keep([]namedFile{{"--out", o.out}}, files); err != nil {
		return err
	}
	if o.tails > maxTails {
		return invalidArgument(fmt.Sprintf("--tails is at most %d", maxTails))
	}
	learner := learn.New()
	counts, err := scoreFiles(cmd, files, &o.input, pipeline{
		scorer:  score.New(learn.Policy()),
		explain: func(string, string) bool { return true },
		ordered: true, // so that the same traces give the same policy
		take: func(v *verdict) error {
			if v.session != nil {
				learner.Add(v.session, v.account)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	if learner.Empty() {
		return invalidArgument("nothing in the traces tells of an agent: no tool calls, model calls or agent runs")
	}
	var text bytes.Buffer
	summary, err := learner.Write(&text, learn.Options{Tails: o.tails})
	if err != nil {
		return err
	}
	if summary.Contracts+summary.Protocols == 0 {
		return invalidArgument("the traces show no call with a result and no message, so there is nothing to make a policy of")
	}
	p, err := policy.Load("the policy that was made", text.Bytes())
	if err != nil {
		return fmt.Errorf("the policy that was made is not valid, which is a fault of this program: %w", err)
	}
	if err := writeTo(cmd.OutOrStdout(), o.out, "--out", func(w io.Writer) error {
		_, err := w.Write(text.Bytes())
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: learned from %s with %s: %s and %s with %s\n", count(summary.Sessions, "session"), count(summary.Calls, "tool call"),
		count(summary.Contracts, "contract"), count(summary.Protocols, "protocol"), count(summary.States, "state"))
	if err := tryPolicy(cmd, files, o, p); err != nil {
		return err
	}
	if counts.incomplete() {
		return exitCode(2)
	}
	return nil
}

// tryPolicy says what the traces come to by a policy that was made of them.
// Standard input cannot be read again.
func tryPolicy(cmd *cobra.Command, files []string, o *initOptions, p *policy.Policy) error {
	paths, err := traceread.Paths(files)
	if err != nil {
		return invalidArgument(err.Error())
	}
	for _, path := range paths {
		if info, err := os.Stat(path); path == "-" || err == nil && !info.Mode().IsRegular() {
			return nil
		}
	}
	scorer := score.New(p)
	builder := report.NewBuilder(scorer.Conversational())
	quiet := *cmd
	quiet.SetErr(io.Discard) // what is broken was told
	if _, err := scoreFiles(&quiet, files, &o.input, pipeline{scorer: scorer, take: func(v *verdict) error {
		if v.session == nil {
			return nil
		}
		return builder.Add(report.Trace{Verdict: v.session, Spans: v.facts})
	}}); err != nil {
		return err
	}
	r, err := builder.Report(report.Inputs{})
	if err != nil {
		return err
	}
	defer r.Close()
	observations, unjudged := r.Summary.Observations, ""
	if n := r.Summary.ByCompliance[score.Unjudged.String()]; n > 0 {
		unjudged = fmt.Sprintf(", %d unjudged", n)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: by it, %d of %s are compliant%s, and %d of %s are sealed\n",
		r.Summary.ByCompliance[score.Compliant.String()], count(r.Summary.Sessions, "session"), unjudged, observations.Sealed, count(observations.Total, "contracted call"))
	return nil
}
