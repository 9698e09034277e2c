// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/report"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// failures are the values of --fail-on: a compliance of a session, an outcome of an
// observation (blocked, uncaptured) or of a call (uncontracted).
var failures = []string{"violation", "inconclusive", "unrecognized", "incomplete", "unjudged", "blocked", "uncaptured", "uncontracted"}

type scoreOptions struct {
	policy     string
	format     string
	out        []string
	outputs    []output // what format and out ask for
	annotated  string
	failOn     []string
	allowEmpty bool
	explain    string
	input      inputOptions

	showContent bool
}

// maxJobs bounds --jobs: each is a goroutine with buffers of its own.
const maxJobs = 1024

// inputOptions are the flags of commands that read traces.
type inputOptions struct {
	strict   bool
	jobs     int
	dialects string
	memory   memoryFlag
}

func (o *inputOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "how many goroutines parse and judge")
	f.StringVar(&o.dialects, "dialects", "", "a file with further dialects and conversation attributes, in the form of the processor's settings")
	o.memory = defaultMemory()
	f.Var(&o.memory, "memory", "how much memory to use, 0 for no bound: traces that were not added to for the longest time are judged first")
	f.BoolVar(&o.strict, "strict", false, "stop at the first broken file or line")
}

// keep refuses outputs that would overwrite the traces or another file that is
// read.
func (o *inputOptions) keep(written []namedFile, traces []string, others ...namedFile) error {
	paths, err := traceread.Paths(traces)
	if err != nil {
		return invalidArgument(err.Error())
	}
	read := append(others, namedFile{"--dialects", o.dialects})
	for _, path := range paths {
		read = append(read, namedFile{"the input", path})
	}
	return checkOutputs(written, read)
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
status is then 2. Else it is 1 if a session came to what --fail-on names, or if
there is --fail-on and no session at all (unless --allow-empty), and 0 if not.`,
		Example: `  resultseal score --policy policy.yaml traces.jsonl
  resultseal score --policy policy.yaml --format json --fail-on violation,blocked 'runs/*.jsonl.gz'
  resultseal score --policy policy.yaml --out report.html --out junit=tests.xml --out table=- traces.jsonl
  resultseal score --policy policy.yaml traces.jsonl --explain f022a743`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runScore(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", "", "the policy file (required)")
	f.StringVar(&o.format, "format", "", strings.Join(formats, ", ")+" (default: by the name of --out, else table on a terminal and json elsewhere)")
	f.StringArrayVar(&o.out, "out", nil, "write to this `[FORM=]FILE` instead of standard output, in this format or that of its name; - is standard output (repeatable)")
	f.StringVar(&o.annotated, "annotated", "", "also write the spans, with the annotations that the processor writes, to this file (OTLP JSON, a trace a line)")
	f.StringVar(&o.explain, "explain", "", "say step by step how the verdict on this trace came about: an id, its first digits, or a conversation's id")
	f.BoolVar(&o.showContent, "show-content", false, "show content: arguments, results and messages in explanations and in the HTML report, and the values that protocols remember in every format")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit 1 if a session came to one of these: "+strings.Join(failures, ", "))
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "with --fail-on, accept an input without any session")
	o.input.register(cmd)
	return cmd
}

// check refuses what cannot be meant, and fills in what is left out.
func (o *scoreOptions) check(stdout io.Writer) error {
	if o.policy == "" {
		return invalidArgument("--policy is required; resultseal init makes a first policy from traces")
	}
	for _, f := range o.failOn {
		if !slices.Contains(failures, f) {
			return invalidArgument(fmt.Sprintf("--fail-on %q is unknown; use %s", f, strings.Join(failures, ", ")))
		}
	}
	if o.explain != "" {
		return nil
	}
	var err error
	if o.outputs, err = outputs(o.format, o.out, stdout); err != nil {
		return err
	}
	return nil
}

func runScore(cmd *cobra.Command, files []string, o *scoreOptions) error {
	if err := o.check(cmd.OutOrStdout()); err != nil {
		return err
	}
	if o.explain != "" {
		return runExplain(cmd, files, o)
	}
	written := []namedFile{{"--annotated", o.annotated}}
	for _, out := range o.outputs {
		written = append(written, namedFile{"--out", out.file})
	}
	if err := o.input.keep(written, files, namedFile{"--policy", o.policy}); err != nil {
		return err
	}
	p, err := loadPolicy(o.policy)
	if err != nil {
		return err
	}
	scorer := score.New(p)
	builder := report.NewBuilder(scorer.Conversational())
	builder.Content, builder.Policy = o.showContent, p
	var spans *annotated
	if o.annotated != "" {
		spans = newAnnotated()
		defer spans.close()
	}
	var explain func(string, string) bool
	if slices.ContainsFunc(o.outputs, func(out output) bool { return out.format == "html" }) {
		explain = func(string, string) bool { return true }
	}
	counts, err := scoreFiles(cmd, files, &o.input, pipeline{
		scorer:  scorer,
		explain: explain,
		take: func(v *verdict) error {
			if v.session != nil {
				if err := builder.Add(report.Trace{Verdict: v.session, Spans: v.facts, Account: v.account, Origin: originOf(v)}); err != nil {
					return err
				}
			}
			if spans != nil {
				return spans.add(v)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	for _, s := range counts.scattered {
		if err := builder.Remove(s.trace); err != nil {
			return err
		}
		if spans != nil {
			spans.remove(s.trace)
		}
	}
	r, err := builder.Report(report.Inputs{
		Files: counts.files, Spans: counts.spans, Broken: counts.broken, Scattered: len(counts.scattered),
	})
	if err != nil {
		return err
	}
	defer r.Close()
	if spans != nil {
		if err := writeTo(nil, o.annotated, "--annotated", spans.write); err != nil {
			return err
		}
	}
	var failures []error // one that cannot be written keeps no other from being written
	for _, out := range o.outputs {
		failures = append(failures, writeTo(cmd.OutOrStdout(), out.file, "--out", func(w io.Writer) error { return writeReport(w, out.format, r, p, o) }))
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return exit(cmd, counts, r, o)
}

// exit returns the exit status: 2 if something could not be read, 1 if a session
// has an outcome of --fail-on or if there is --fail-on and no session.
func exit(cmd *cobra.Command, counts totals, r *report.Report, o *scoreOptions) error {
	switch {
	case counts.incomplete():
		return exitCode(2)
	case len(o.failOn) > 0 && r.Len() == 0 && !o.allowEmpty:
		fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: no session in %s, so --fail-on fails; --allow-empty accepts that\n", count(counts.spans, "span"))
		return exitCode(1)
	case report.FailOn(o.failOn).Failed(r):
		return exitCode(1)
	}
	return nil
}

// originOf says where the spans of a verdict were recorded.
func originOf(v *verdict) report.Origin {
	at := v.trace.Place
	if at.File == traceread.Stdin {
		return report.Origin{}
	}
	return report.Origin{File: at.File, Line: at.Line}
}

// loadPolicy reads the file of --policy.
func loadPolicy(name string) (*policy.Policy, error) {
	text, err := readText(name)
	if err != nil {
		return nil, invalidArgument("--policy: " + err.Error())
	}
	p, err := policy.Load(name, text)
	if err != nil {
		return nil, policyError(err)
	}
	return p, nil
}

// loadDialects reads the file of --dialects, if there is one.
func loadDialects(name string) (genai.Options, error) {
	if name == "" {
		return genai.Options{}, nil
	}
	text, err := readText(name)
	if err != nil {
		return genai.Options{}, invalidArgument("--dialects: " + err.Error())
	}
	options, err := genai.ReadOptions(text)
	var faults genai.Faults
	if errors.As(err, &faults) {
		// Each fault has an excerpt of the file, on lines of its own.
		return genai.Options{}, &failure{engine.CodeInvalidArgument, errors.New("--dialects: " + tellFaults(&documentFile{name: name, text: text}, faults))}
	}
	return options, nil
}

// scoreFiles scores the files of a command line. It reports unreadable input and,
// on a terminal, progress on standard error.
func scoreFiles(cmd *cobra.Command, files []string, o *inputOptions, j pipeline) (totals, error) {
	paths, err := traceread.Paths(files)
	if err != nil {
		return totals{}, invalidArgument(err.Error())
	}
	if j.options, err = loadDialects(o.dialects); err != nil {
		return totals{}, err
	}
	if o.jobs < 0 || o.jobs > maxJobs {
		return totals{}, invalidArgument(fmt.Sprintf("--jobs must be between 0 and %d, got %d; leave it out for as many as there are processors", maxJobs, o.jobs))
	}
	stderr := cmd.ErrOrStderr()
	bar := newBar(stderr, isTerminal(stderr), progressDelay, paths)
	defer bar.end()
	var mu sync.Mutex
	j.jobs, j.strict = o.jobs, o.strict
	j.bar = bar
	j.broken = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		bar.say(stderr, "resultseal: "+err.Error())
	}
	var undo func()
	j.memory, undo = o.memory.budget()
	defer undo()
	err = j.run(paths, cmd.InOrStdin())
	bar.end()
	tellScattered(stderr, &j.result, o.memory)
	tellUnread(stderr, &j.result.unread)
	return j.result, err
}

// writeReport writes the report in a format.
func writeReport(w io.Writer, format string, r *report.Report, p *policy.Policy, o *scoreOptions) error {
	switch format {
	case "json":
		return r.JSON(w)
	case "jsonl":
		return r.JSONL(w)
	case "junit":
		return r.JUnit(w, o.failOn)
	case "sarif":
		return r.SARIF(w, version, o.failOn)
	case "html":
		return r.HTML(w, report.Page{Version: version, PolicyFile: filepath.Base(o.policy), Policy: p, Content: o.showContent})
	}
	return r.Table(w, colours(w))
}
