// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/groupbytraceprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor"
)

//go:embed configs
var configs embed.FS

// configFile is a file of configs/.
func configFile(name string) string {
	text, err := configs.ReadFile(path.Join("configs", name))
	if err != nil {
		panic(err) // it is built in
	}
	return string(text)
}

// subject is a processor with its configuration.
type subject struct {
	name    string
	factory processor.Factory // nil for none: batches go straight to the sink
	config  string
	// emptiesItself is set for a processor that must be waited for before it is shut
	// down, since it drops what it holds by then.
	emptiesItself bool
}

// The waits of ours and of tail_sampling are longer than a round, so that both pass on
// what they hold when they are shut down, and no clock ticks meanwhile; no limit is
// reached either. groupbytrace passes on by its clock alone.
const (
	longWaits      = "root_delay: 1m\nidle_timeout: 1m\nmax_bytes: 1073741824\n"
	tailSampling   = "decision_wait: 1m\npolicies:\n  - {name: all, type: always_sample}\n"
	groupByTrace   = "wait_duration: 1s\n"
	streamSettings = "mode: stream\n" + longWaits
)

// resultseal is ours, with a policy of configs/.
func resultseal(name, policy, settings string) subject {
	indented := strings.ReplaceAll("\n"+strings.TrimSpace(configFile(policy)), "\n", "\n  ")
	return subject{name: name, factory: resultsealprocessor.NewFactory(), config: settings + "policy:" + indented + "\n"}
}

// none passes batches on as they are. What it costs is to throw them away.
type none struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.Traces
}

// sink counts the spans that come out.
type sink struct {
	consumer.Traces
	spans atomic.Int64
	look  func(ptrace.Traces) // if somebody wants to see them
}

func newSink(look func(ptrace.Traces)) (*sink, error) {
	s := &sink{look: look}
	var err error
	s.Traces, err = consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		s.spans.Add(int64(td.SpanCount()))
		if s.look != nil {
			s.look(td)
		}
		return nil
	})
	return s, err
}

// processor makes the processor as the collector does, with metrics that are counted and
// never read, and without a log.
func (s *subject) processor(next consumer.Traces) (processor.Traces, func() error, error) {
	if s.factory == nil {
		return none{Traces: next}, func() error { return nil }, nil
	}
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(s.config))
	if err != nil {
		return nil, nil, err
	}
	conf, err := retrieved.AsConf()
	if err != nil {
		return nil, nil, err
	}
	cfg := s.factory.CreateDefaultConfig()
	if err := conf.Unmarshal(&cfg); err != nil {
		return nil, nil, err
	}
	if v, ok := cfg.(confmap.Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, nil, err
		}
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	set := processortest.NewNopSettings(s.factory.Type())
	set.MeterProvider = meters
	p, err := s.factory.CreateTraces(context.Background(), set, cfg, next)
	return p, func() error { return meters.Shutdown(context.Background()) }, err
}

// live feeds a workload to a processor of its own and counts the cost for each span of
// its whole life: from the first batch until it is shut down and every span has come out.
// It fails if one has not.
func (s *subject) live(w *workload, senders int, look func(ptrace.Traces)) (figures, error) {
	in, err := w.batches()
	if err != nil {
		return figures{}, err
	}
	out, err := newSink(look)
	if err != nil {
		return figures{}, err
	}
	p, done, err := s.processor(out)
	if err != nil {
		return figures{}, err
	}
	ctx := context.Background()
	if err := p.Start(ctx, componenttest.NewNopHost()); err != nil {
		return figures{}, err
	}
	f, err := measured(func() (int, error) {
		if err := send(ctx, p, in, senders); err != nil {
			return 0, err
		}
		if s.emptiesItself {
			if err := out.wait(w.spans); err != nil {
				return 0, err
			}
		}
		return w.spans, p.Shutdown(ctx)
	})
	if err != nil {
		return f, err
	}
	if got := int(out.spans.Load()); got != w.spans {
		return f, fmt.Errorf("%d spans went in, %d came out", w.spans, got)
	}
	return f, done()
}

// send lets a number of goroutines bring the batches, and keeps none.
func send(ctx context.Context, to consumer.Traces, in []ptrace.Traces, senders int) error {
	var next atomic.Int64
	errs := make([]error, senders)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(in) || errs[s] != nil {
					return
				}
				td := in[i]
				in[i] = ptrace.Traces{}
				errs[s] = to.ConsumeTraces(ctx, td)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) wait(spans int) error {
	for deadline := time.Now().Add(time.Minute); int(s.spans.Load()) < spans; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("after a minute %d of %d spans have come out", s.spans.Load(), spans)
		}
	}
	return nil
}

// alive is a contestant that lives as often in a round as takes four times its budget of
// processor time. A garbage collection costs as much as some ten thousand spans do, and
// whether one more of them falls into a life is chance: over several lives that evens out.
func alive(s subject, w *workload, senders int) contestant {
	return contestant{s.name, func(budget time.Duration) (figures, error) {
		var sum figures
		for lives := 1.0; ; lives++ {
			f, err := s.live(w, senders, nil)
			if err != nil {
				return f, err
			}
			sum = figures{sum.cpu + f.cpu, sum.wall + f.wall, sum.allocs + f.allocs}
			if time.Duration(sum.cpu*float64(w.spans)) >= 4*budget {
				return figures{sum.cpu / lives, sum.wall / lives, sum.allocs / lives}, nil
			}
		}
	}}
}

// plainSpans compares what spans cost that the processor has nothing to say about.
func plainSpans(b budget) ([]*contest, error) {
	var out []*contest
	for _, c := range []struct {
		what            string
		spans           int
		againstGrouping target
		headline        string
	}{
		{"one-span traces", 1, target{ratioAtMost: 0.25}, ""},
		{"traces of 20 spans", 20, target{}, "a span without GenAI content, in traces of 20"},
	} {
		w, err := newWorkload(plainShape, b.scaled(40_000)/c.spans, c.spans)
		if err != nil {
			return nil, err
		}
		prefix := "span without GenAI content, "
		out = append(out, &contest{
			name: "processor/plain/" + c.what,
			contestants: []contestant{
				alive(resultseal("mode trace", "policy.yaml", longWaits), w, 1),
				alive(subject{name: "tail_sampling", factory: tailsamplingprocessor.NewFactory(), config: tailSampling}, w, 1),
				alive(subject{name: "groupbytrace", factory: groupbytraceprocessor.NewFactory(), config: groupByTrace, emptiesItself: true}, w, 1),
				alive(resultseal("mode stream", "policy.yaml", streamSettings), w, 1),
			},
			lines: []line{
				{what: prefix + c.what + ", mode trace", of: 0, against: 1, target: target{ratioAtMost: 1}, headline: c.headline},
				{what: "… beside groupbytrace", of: 0, against: 2, target: c.againstGrouping},
				{what: prefix + c.what + ", mode stream", of: 3, against: 1},
			},
		})
	}
	below, err := newWorkload(belowShape, b.scaled(40_000)/20, 20)
	if err != nil {
		return nil, err
	}
	return append(out, &contest{
		name: "processor/plain/below",
		contestants: []contestant{
			alive(resultseal("mode stream", "policy.yaml", streamSettings), below, 1),
			alive(subject{name: "tail_sampling", factory: tailsamplingprocessor.NewFactory(), config: tailSampling}, below, 1),
			alive(subject{name: "no processor"}, below, 1),
		},
		lines: []line{
			{what: "span without GenAI content, below a root that is elsewhere, mode stream", of: 0, against: 1, target: target{nsAtMost: 100, hasAllocs: true}},
			{what: "… beside no processor", of: 0, against: 2},
		},
	}), nil
}

// toolSpans compares what tool spans cost with what three attributes of a parsed result
// cost.
func toolSpans(b budget) ([]*contest, error) {
	w, err := newWorkload(toolShape, b.scaled(20_000)/10, 10)
	if err != nil {
		return nil, err
	}
	most := target{ratioAtMost: 2}
	return []*contest{{
		name: "processor/tools",
		contestants: []contestant{
			alive(resultseal("mode trace", "policy.yaml", longWaits), w, 1),
			alive(resultseal("mode stream", "policy.yaml", streamSettings), w, 1),
			alive(resultseal("mode trace, protocol", "policy-protocol.yaml", longWaits), w, 1),
			alive(resultseal("mode stream, protocol", "policy-protocol.yaml", streamSettings), w, 1),
			alive(subject{name: "transform", factory: transformprocessor.NewFactory(), config: configFile("transform.yaml")}, w, 1),
		},
		lines: []line{
			{what: "tool span with a result of 512 B, mode trace", of: 0, against: 4, target: most, headline: "a tool span with a result of 512 B"},
			{what: "… mode stream", of: 1, against: 4, target: most},
			{what: "… mode trace, and a protocol", of: 2, against: 4},
			{what: "… mode stream, and a protocol", of: 3, against: 4},
		},
	}}, nil
}
