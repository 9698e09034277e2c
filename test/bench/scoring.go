// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// scoredSpans is how many spans there are in all, in few traces or in many, so that the
// caches of the processor serve the one as badly as the other.
const scoredSpans = 10_000

// scoring measures what a span costs as its trace grows, from its attributes to the
// verdict on the trace.
func scoring(budget) ([]*contest, error) {
	p, err := policy.Load("policy-protocol.yaml", []byte(configFile("policy-protocol.yaml")))
	if err != nil {
		return nil, err
	}
	var out []*contest
	for _, s := range []shape{mixedShape, toolShape} {
		c := &contest{name: "score/" + s.name}
		for i, spans := range []int{10, 100, 1000, scoredSpans} {
			c.contestants = append(c.contestants, scorer(score.New(p), s, spans))
			l := line{what: fmt.Sprintf("score a trace of %d %s", spans, s.name), unit: " a span", of: i, against: alone}
			if i > 0 {
				l.against, l.target = 0, target{ratioAtMost: 1.5}
			}
			c.lines = append(c.lines, l)
		}
		out = append(out, c)
	}
	return out, nil
}

// scorer scores traces of so many spans, one after the other.
func scorer(scorer *score.Scorer, s shape, spans int) contestant {
	calls := spans
	if s.name == mixedShape.name {
		calls = spans / mixedSpans
	}
	var traces []ptrace.Traces
	for n := range scoredSpans / spans {
		traces = append(traces, oneTrace(s, n, spans))
	}
	d := genai.NewDecoder(genai.Options{})
	return eachOf(scoredSpans, repeated(fmt.Sprintf("%d spans", spans), func() error {
		for _, td := range traces {
			facts, _ := d.Traces(td)
			v := scorer.Trace(facts, nil)
			if sealed, _, _ := v.Counts(); sealed != calls || v.Compliance != score.Compliant {
				return fmt.Errorf("%d of %d calls are sealed, and the trace is %v", sealed, calls, v.Compliance)
			}
		}
		return nil
	}))
}

// eachOf is a contestant whose every operation is as many as n.
func eachOf(n int, c contestant) contestant {
	return contestant{c.name, func(budget time.Duration) (figures, error) {
		f, err := c.round(budget)
		per := 1 / float64(n)
		return figures{f.cpu * per, f.wall * per, f.allocs * per}, err
	}}
}
