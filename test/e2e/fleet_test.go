// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// fleet is collectors with the recommended configuration, what watches them, and
// what was sent to them.
type fleet struct {
	prometheus, alertmanager int
	jaeger                   int // port of its queries, 0 if it is not there
	relay                    *relay
	pager                    *pager
	recordings               []recording
	collectors               []*collector
	load, small, lossy       *collector
	victim                   *collector

	// background sends until it is cancelled.
	background sync.WaitGroup
	cancel     context.CancelFunc
	done       <-chan struct{}

	mu       sync.Mutex
	recorded map[pcommon.TraceID]recordedRun // sent, by the id that they were sent with
	healthy  map[pcommon.TraceID]bool        // of the load, with nothing wrong
	broken   map[pcommon.TraceID]bool        // of the load, with something blocked
}

// private is what the load's tools return and nobody needs to store.
const private = "Ada of Alder Street"

// turn is when the load goes bad.
const turn = 30 * time.Second

// lossyOverlay has a short queue, gives up soon, and spells metric
// names with unit and type behind them.
const lossyOverlay = `processors:
  batch: {timeout: 0s}
exporters:
  otlp_grpc:
    sending_queue: {num_consumers: 1, queue_size: 10}
    retry_on_failure: {initial_interval: 100ms, max_interval: 500ms, max_elapsed_time: 1s}
service:
  telemetry:
    metrics:
      readers:
        - pull:
            exporter:
              prometheus:
                host: 127.0.0.1
                port: ${env:RESULTSEAL_METRICS_PORT}
                without_type_suffix: false
                without_units: false
`

const smallOverlay = `processors:
  resultseal: {max_traces: 2}
`

func startFleet(t *testing.T) *fleet {
	t.Helper()
	distribution(t)
	installed(t, "prometheus")
	installed(t, "alertmanager", "prometheus-alertmanager")
	f := &fleet{
		recordings: recordings(t),
		recorded:   map[pcommon.TraceID]recordedRun{},
		healthy:    map[pcommon.TraceID]bool{},
		broken:     map[pcommon.TraceID]bool{},
	}
	otlp := 0
	// In a test of its own, so that only it is skipped.
	t.Run("Jaeger is there", func(t *testing.T) { jaegerBinary(t); f.jaeger = 1 })
	if f.jaeger != 0 {
		f.jaeger, otlp = startJaeger(t)
	}
	f.relay = startRelay(t, otlp)
	f.pager = startPager(t)

	loadPolicy := absolute(t, "test", "e2e", "testdata", "load.yaml")
	start := func(name, policy string, backend int, overlay string, environment ...string) *collector {
		c := startCollector(t, name, policy, backend, overlay, environment...)
		f.collectors = append(f.collectors, c)
		return c
	}
	for _, r := range f.recordings {
		start(r.name, r.policy, f.relay.port, "")
	}
	f.load = start("load", loadPolicy, f.relay.port, "", "RESULTSEAL_SAMPLE_PERCENT=10")
	f.small = start("small", absolute(t, "examples", "quickstart", "policy.yaml"), f.relay.port, smallOverlay, "RESULTSEAL_ROOT_DELAY=2s")
	f.lossy = start("lossy", f.recordings[0].policy, ports(t, 1)[0], lossyOverlay, "RESULTSEAL_SAMPLE_PERCENT=100")
	f.victim = start("victim", loadPolicy, f.relay.port, "")

	ctx, cancel := context.WithCancel(t.Context())
	f.cancel, f.done = cancel, ctx.Done()
	t.Cleanup(func() { cancel(); f.background.Wait() })
	for i, r := range f.recordings {
		f.every(t, 5*time.Second, f.collectors[i], func(send func(ptrace.Traces) error) error { return f.sendRecording(r, send) })
	}
	began := time.Now()
	f.every(t, 200*time.Millisecond, f.load, func(send func(ptrace.Traces) error) error {
		return f.sendLoad(time.Since(began) > turn, send)
	})
	f.alertmanager = startAlertmanager(t, f.pager.url)
	f.prometheus = startPrometheus(t, f.alertmanager, f.collectors)
	return f
}

// every sends to a collector again and again, until the fleet is silenced.
func (f *fleet) every(t *testing.T, period time.Duration, c *collector, once func(send func(ptrace.Traces) error) error) {
	t.Helper()
	send := dial(t, c)
	f.background.Go(func() {
		for tick := time.NewTicker(period); ; {
			if err := once(send); err != nil {
				t.Errorf("sending to %s: %v", c.Name, err)
				return
			}
			select {
			case <-tick.C:
			case <-f.done:
				tick.Stop()
				return
			}
		}
	})
}

func (f *fleet) sendRecording(r recording, send func(ptrace.Traces) error) error {
	for _, run := range r.runs {
		td, id := again(run.trace)
		f.mu.Lock()
		f.recorded[id] = run
		f.mu.Unlock()
		if err := send(td); err != nil {
			return err
		}
	}
	return nil
}

// sendLoad sends one run: at first one with nothing wrong, later one whose
// accounts are empty lists but for one, whose shelf was not recorded, and that
// does not use the renamed tool by its old name.
func (f *fleet) sendLoad(bad bool, send func(ptrace.Traces) error) error {
	m := newMade("load-agent")
	f.mu.Lock()
	if bad {
		f.broken[m.id] = true
		m.call("find_account", `{"id":"7"}`, `[]`).call("read_shelf", `{"shelf":"3"}`, "").call("find_account", `{"id":"8"}`, `{"id":"8","name":"`+private+`"}`).call("find_account", `{"id":"9"}`, `[]`)
	} else {
		f.healthy[m.id] = true
		m.call("find_account", `{"id":"7"}`, `{"id":"7","name":"`+private+`"}`).call("read_shelf", `{"shelf":"3"}`, `{"qty":2}`).call("old_name", `{}`, `{"id":"1"}`)
	}
	f.mu.Unlock()
	return send(m.traces)
}

// trouble begins: one collector is given more traces than it may hold, and
// spans of traces that it has judged already; another one's backend is gone.
func (f *fleet) trouble(t *testing.T) {
	t.Helper()
	var earlier []*made
	f.every(t, time.Second, f.small, func(send func(ptrace.Traces) error) error {
		var batch []*made
		for range 6 {
			m := newMade("small-agent").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`)
			batch = append(batch, m)
			if err := send(m.traces); err != nil {
				return err
			}
		}
		if len(earlier) > 3 {
			late := newMade("small-agent")
			late.spans.RemoveIf(func(ptrace.Span) bool { return true })
			late.id, late.root = earlier[0].id, earlier[0].root
			late.call("lookup_stock", `{"sku":"Y"}`, `{"sku":"Y","qty":1}`)
			if err := send(late.traces); err != nil {
				return err
			}
			earlier = earlier[1:]
		}
		earlier = append(earlier, batch[0])
		return nil
	})
	support := f.recordings[0]
	f.every(t, 400*time.Millisecond, f.lossy, func(send func(ptrace.Traces) error) error {
		for _, run := range support.runs {
			td, _ := again(run.trace)
			if err := send(td); err != nil {
				return err
			}
		}
		return nil
	})
}

// sample is one element of a result of Prometheus.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  []any             `json:"value"`
	Values [][]any           `json:"values"`
}

// query asks Prometheus. With a step, it asks for the last minute.
func (f *fleet) query(t *testing.T, expression string, step time.Duration) []sample {
	t.Helper()
	parameters := url.Values{"query": {expression}}
	path := "/api/v1/query?"
	if step != 0 {
		path = "/api/v1/query_range?"
		now := time.Now()
		parameters.Set("start", fmt.Sprint(now.Add(-time.Minute).Unix()))
		parameters.Set("end", fmt.Sprint(now.Unix()))
		parameters.Set("step", step.String())
	}
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	getJSON(t, page(f.prometheus, path+parameters.Encode()), &answer)
	require.Equal(t, "success", answer.Status, "%s: %s", expression, answer.Error)
	return answer.Data.Result
}

// alert names an alert by what it is about; of the labels that only say where it
// comes from, the instance becomes the collector's name.
func (f *fleet) alert(labels map[string]string) string {
	out := []string{labels["alertname"]}
	for _, label := range []string{"protocol", "tool", "contract", "finalized_by"} {
		if labels[label] != "" {
			out = append(out, label+"="+labels[label])
		}
	}
	for _, c := range f.collectors {
		if labels["instance"] == address(c.metrics) {
			out = append(out, "on "+c.Name)
		}
	}
	return strings.Join(out, " ")
}

// fired are all alerts that fired at any time.
func (f *fleet) fired(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, s := range f.query(t, `max_over_time(ALERTS{alertstate="firing"}[30m])`, 0) {
		out = append(out, f.alert(s.Metric))
	}
	return distinct(out)
}

// told are all alerts that the on-call person was told of.
func (f *fleet) told() []string {
	var out []string
	for _, labels := range f.pager.alerts() {
		out = append(out, f.alert(labels))
	}
	return distinct(out)
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// await waits until the alerts have fired and the on-call person was told.
func (f *fleet) await(t *testing.T, alerts []string) {
	t.Helper()
	missing := func(from []string) []string {
		return slices.DeleteFunc(slices.Clone(alerts), func(a string) bool { return slices.Contains(from, a) })
	}
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(500 * time.Millisecond) {
		notFired, notTold := missing(f.fired(t)), missing(f.told())
		if len(notFired)+len(notTold) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("did not fire: %q; nobody was told of: %q", notFired, notTold)
		}
	}
}
