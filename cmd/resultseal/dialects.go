// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/instrumentations"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

func newDialectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dialects",
		Short: "List the dialects by which spans are read",
		Long: `List the built-in dialects by which spans are read: the instrumentations, and the
basis. ✓ is a recording among the tests of this project, ◐ a reconstruction from
public sources, ○ documentation alone. The names of the files have the versions.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listDialects(cmd.OutOrStdout())
		},
	}
	cmd.AddCommand(newDialectsExplainCommand())
	return cmd
}

func listDialects(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "dialect\tbasis\treads\tshown by")
	for _, r := range instrumentations.Rows() {
		dialect := r.Dialect
		for _, e := range r.Entries {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", dialect, e.Marks(), e.Title(), strings.Join(e.Files(), " "))
			dialect = ""
		}
	}
	return w.Flush()
}

func newDialectsExplainCommand() *cobra.Command {
	var o inputOptions
	cmd := &cobra.Command{
		Use:   "explain FILE...",
		Short: "Show which dialects read recorded spans, and what is not read",
		Long: `Show, for each instrumentation scope of recorded traces, which dialects read how
many of its spans, what tool spans lack, and the names of attributes that are not
read. The output has names of scopes, attributes and dialects, and no content: send
it with a report about an instrumentation that is not read.

A FILE is what score takes.`,
		Example: `  resultseal dialects explain traces.jsonl
  resultseal dialects explain --dialects dialects.yaml traces.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return explainDialects(cmd, args, &o) },
	}
	o.register(cmd)
	return cmd
}

func explainDialects(cmd *cobra.Command, args []string, o *inputOptions) error {
	paths, err := traceread.Paths(args)
	if err != nil {
		return invalidArgument(err.Error())
	}
	options, err := loadDialects(o.dialects)
	if err != nil {
		return err
	}
	r := &reading{decoder: genai.NewDecoder(options), scopes: map[string]*scopeReading{}}
	broken := 0
	err = traceread.Read(paths, cmd.InOrStdin(), o.jobs, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { r.add(td); return nil },
		Broken: func(e *traceread.Error) error {
			if o.strict {
				return e
			}
			broken++
			fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: %s\n", e)
			return nil
		},
	})
	var unreadable *traceread.Error
	if errors.As(err, &unreadable) {
		return invalidInput(err)
	}
	if err != nil {
		return err
	}
	r.write(cmd.OutOrStdout())
	if broken > 0 {
		return exitCode(2)
	}
	return nil
}

// maxScopes bounds the number of scopes, maxNames the number of attribute names per
// scope, since both come from the input.
const (
	maxScopes = 1000
	maxNames  = 1000
	maxShown  = 20
)

// reading is what was read of spans, by scope.
type reading struct {
	decoder *genai.Decoder
	scopes  map[string]*scopeReading
	more    bool
}

// readAs is what a dialect read a span as.
type readAs struct{ kind, dialect string }

type scopeReading struct {
	spans, unread                         int // unread look like tool calls
	by                                    map[readAs]int
	tools                                 int
	nameless, noID, noArguments, noResult int
	failed                                int
	names                                 map[string]int // attributes that are not read, of the agent's spans and of the unread ones
}

func (r *reading) add(td ptrace.Traces) {
	facts, spans := r.decoder.Traces(td)
	dialects := r.decoder.Dialects()
	for i := range facts {
		f := &facts[i]
		s := r.scope(f.Scope)
		if s == nil {
			continue
		}
		s.spans++
		unread := f.Kind == genai.Other && r.decoder.Reading(f.Scope, spans[i]) == genai.UnreadTool
		if f.Kind == genai.Other && !unread {
			continue
		}
		if unread {
			s.unread++
		}
		for d := range dialects {
			if f.Dialects().Has(d) {
				s.by[readAs{f.Kind.String(), dialects[d].Name}]++
			}
		}
		if f.Kind == genai.Tool {
			s.tool(f)
		}
		for name := range spans[i].Attributes().All() {
			if !r.decoder.Reads(name) && (s.names[name] > 0 || len(s.names) < maxNames) {
				s.names[strings.Clone(name)]++
			}
		}
	}
}

func (r *reading) scope(name string) *scopeReading {
	s := r.scopes[name]
	if s == nil {
		if len(r.scopes) >= maxScopes {
			r.more = true
			return nil
		}
		s = &scopeReading{by: map[readAs]int{}, names: map[string]int{}}
		r.scopes[strings.Clone(name)] = s
	}
	return s
}

func (s *scopeReading) tool(f *genai.Span) {
	s.tools++
	result := f.Call.Result.Result()
	if f.Call.Tool == "" && result.Tool == "" {
		s.nameless++
	}
	if f.Call.ID == "" && result.CallID == "" {
		s.noID++
	}
	if !f.Call.Arguments.Captured() {
		s.noArguments++
	}
	if result.State != genai.Captured {
		s.noResult++
	}
	if f.Failure.Kind != genai.NoFailure || result.Failed {
		s.failed++
	}
}

func (r *reading) write(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(r.scopes)) {
		r.scopes[name].write(w, name)
	}
	if len(r.scopes) == 0 {
		fmt.Fprintln(w, "no spans")
	}
	if r.more {
		fmt.Fprintf(w, "There are more than %d scopes.\n", maxScopes)
	}
}

func (s *scopeReading) write(w io.Writer, name string) {
	fmt.Fprintf(w, "scope %s: %s\n", cmp.Or(display.Label(name), "(without a name)"), count(s.spans, "span"))
	by := slices.SortedFunc(maps.Keys(s.by), func(a, b readAs) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.dialect, b.dialect))
	})
	for _, as := range by {
		fmt.Fprintf(w, "  %s by %s\n", count(s.by[as], as.kind+" span"), as.dialect)
	}
	if s.tools > 0 {
		fmt.Fprintf(w, "  of %s: %d without a name, %d without a call id, %d without arguments, %d without a result, %d failed\n",
			count(s.tools, "tool span"), s.nameless, s.noID, s.noArguments, s.noResult, s.failed)
	}
	if s.unread > 0 {
		look, them := "look", "them"
		if s.unread == 1 {
			look, them = "looks", "it"
		}
		fmt.Fprintf(w, "  %s %s like tool calls, and no dialect reads %s\n", count(s.unread, "span"), look, them)
	}
	if len(s.by) == 0 && s.unread == 0 {
		fmt.Fprintln(w, "  no span is about an agent")
	}
	s.writeNames(w)
}

// writeNames lists the attributes that are not read, the most frequent first.
func (s *scopeReading) writeNames(w io.Writer) {
	if len(s.names) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(s.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.names[b], s.names[a]), cmp.Compare(a, b))
	})
	fmt.Fprintln(w, "  attributes that are not read:")
	for i, name := range names {
		if i == maxShown {
			fmt.Fprintf(w, "    and %d more\n", len(names)-maxShown)
			break
		}
		fmt.Fprintf(w, "    %s (%d)\n", display.Label(name), s.names[name])
	}
}
