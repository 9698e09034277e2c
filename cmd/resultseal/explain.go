// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/explain"
	"github.com/resultseal/otelcol-resultseal/internal/report"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// shortestPrefix is how much of a trace's id has to be given at least.
const shortestPrefix = 4

// runExplain explains the verdicts on the traces that --explain names, instead
// of reporting all of them.
func runExplain(cmd *cobra.Command, files []string, o *scoreOptions) error {
	if o.format != "" {
		return invalidArgument("--explain writes text; leave --format out")
	}
	out := ""
	switch {
	case len(o.out) > 1:
		return invalidArgument("--explain writes one text; give one --out")
	case len(o.out) == 1 && withFormat.MatchString(o.out[0]):
		return invalidArgument(fmt.Sprintf("--explain writes text; give --out a file without a form, or ./%s for a file with that name", o.out[0]))
	case len(o.out) == 1 && o.out[0] != "-":
		out = o.out[0]
	}
	if o.annotated != "" {
		return invalidArgument("--explain and --annotated do not go together")
	}
	if err := o.input.keep([]namedFile{{"--out", out}}, files, namedFile{"--policy", o.policy}); err != nil {
		return err
	}
	wanted := strings.ToLower(strings.TrimPrefix(o.explain, "0x"))
	p, err := loadPolicy(o.policy)
	if err != nil {
		return err
	}
	scorer := score.New(p)
	builder := report.NewBuilder(scorer.Conversational())
	var values *explain.Values
	if scorer.Conversational() { // then traces are taken in order, from one goroutine
		values = &explain.Values{Conversational: true}
	}
	found := &explained{o: o, colour: out == "" && colours(cmd.OutOrStdout())}
	counts, err := scoreFiles(cmd, files, &o.input, pipeline{
		scorer: scorer,
		explain: func(trace, conversation string) bool {
			return len(wanted) >= shortestPrefix && strings.HasPrefix(trace, wanted) || conversation != "" && conversation == o.explain
		},
		take: func(v *verdict) error {
			found.note(v.trace.ID.String())
			if v.session != nil && values != nil {
				values.Number(v.session)
			}
			if v.account == nil {
				return nil
			}
			if err := builder.Add(report.Trace{Verdict: v.session, Spans: v.facts}); err != nil {
				return err
			}
			return found.add(v, scorer, values)
		},
	})
	if err != nil {
		return err
	}
	if len(found.texts) == 0 {
		return invalidArgument(found.nothing())
	}
	r, err := builder.Report(report.Inputs{})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := writeTo(cmd.OutOrStdout(), out, "--out", found.write); err != nil {
		return err
	}
	return exit(cmd, counts, r, o)
}

// explained collects explanations, from several goroutines.
type explained struct {
	colour bool
	o      *scoreOptions

	mu     sync.Mutex
	texts  []explainedTrace
	traces int
	some   []string // ids of the first traces, in order
}

type explainedTrace struct {
	start uint64
	id    string
	text  []byte
}

// note remembers which traces there are, to say so if none was meant.
func (x *explained) note(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.traces++
	const few = 3
	at, _ := slices.BinarySearch(x.some, id)
	if x.some = slices.Insert(x.some, at, id); len(x.some) > few {
		x.some = x.some[:few]
	}
}

func (x *explained) add(v *verdict, scorer *score.Scorer, values *explain.Values) error {
	var b bytes.Buffer
	err := explain.Write(&b, &explain.Trace{
		Verdict: v.session, Account: v.account, Facts: v.facts, Spans: v.spans,
		Policy: scorer.Policy(), Origin: originOf(v).String(), Dialects: v.dialects, Values: values,
	}, explain.Options{Content: x.o.showContent, Colour: x.colour})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.texts = append(x.texts, explainedTrace{uint64(v.session.Start), v.trace.ID.String(), b.Bytes()})
	return err
}

// write writes the explanations in the order of the traces.
func (x *explained) write(w io.Writer) error {
	slices.SortFunc(x.texts, func(a, b explainedTrace) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id))
	})
	for i, t := range x.texts {
		if i > 0 {
			t.text = append([]byte("\n\n"), t.text...)
		}
		if _, err := w.Write(t.text); err != nil {
			return err
		}
	}
	return nil
}

// nothing says that no trace was meant, and which ones there are.
func (x *explained) nothing() string {
	text := fmt.Sprintf("--explain %s: no trace or conversation of that id tells of an agent", x.o.explain)
	if x.traces == 0 {
		return text + "; there are no traces at all"
	}
	return fmt.Sprintf("%s; there are %s, such as %s", text, count(x.traces, "trace"), strings.Join(x.some, ", "))
}
