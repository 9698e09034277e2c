// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// collectorSenders are as many connections, each with a request under way.
const collectorSenders = 4

// distribution compares the built collector with and without the processor. Both run all
// the time; the one whose turn it is gets spans over OTLP/gRPC.
func distribution(b budget) ([]*contest, error) {
	sparse, err := withAndWithout(b, "sparse", sparseShape, "one tool span in ten", collectorSettings{Exporter: "debug"})
	if err != nil {
		return nil, err
	}
	sparse.lines[0].target = target{ratioAtLeast: 0.85}
	sparse.lines[1].headline = "a whole collector that receives spans over OTLP/gRPC, one in ten of them a tool span"
	mixed, err := withAndWithout(b, "mixed", mixedShape, "mixed spans", collectorSettings{Exporter: "debug"})
	if err != nil {
		return nil, errors.Join(err, sparse.close())
	}
	backend, port, err := startBackend()
	if err != nil {
		return nil, errors.Join(err, sparse.close(), mixed.close())
	}
	sending, err := withAndWithout(b, "sent", sparseShape, "one tool span in ten, sent on to a backend", collectorSettings{Exporter: "otlp_grpc", Backend: port})
	if err != nil {
		backend.Stop()
		return nil, errors.Join(err, sparse.close(), mixed.close())
	}
	collectors := sending.cleanup
	sending.cleanup = func() error {
		defer backend.Stop() // collectors send until they have ended
		return collectors()
	}
	return []*contest{sparse, mixed, sending}, nil
}

// withAndWithout starts two collectors, with the processor and without.
func withAndWithout(b budget, name string, of shape, what string, s collectorSettings) (*contest, error) {
	dir, err := os.MkdirTemp("", "resultseal-bench-")
	if err != nil {
		return nil, err
	}
	c := &contest{name: "distribution/" + name, children: true, cleanup: func() error { return os.RemoveAll(dir) }}
	for _, variant := range []struct{ name, processors string }{{"with the processor", "resultseal"}, {"without it", ""}} {
		own := filepath.Join(dir, fmt.Sprint(len(c.contestants)))
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, errors.Join(err, c.close())
		}
		s.Processors = variant.processors
		running, err := startCollector(filepath.Join(root, "dist", "otelcol-resultseal"), own, s, collectorSenders)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		before := c.cleanup
		c.cleanup = func() error { return errors.Join(running.stop(), before()) }
		c.contestants = append(c.contestants, contestant{variant.name, func(budget time.Duration) (figures, error) {
			amount := b
			amount.round = min(b.round, budget*4) // the first turn is short
			return running.take(of, amount.scaled(100_000)/mixedSpans)
		}})
	}
	c.lines = []line{
		{what: "distribution over OTLP/gRPC, " + what + ", throughput", of: 0, against: 1, figure: wall, unit: " a span", inverse: true},
		{what: "… processor time of the collector", of: 0, against: 1, unit: " a span"},
	}
	return c, nil
}

// startBackend listens for what exporters send, and takes all of it without looking.
func startBackend() (*grpc.Server, int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	server := grpc.NewServer(grpc.ForceServerCodec(asItIs{}), grpc.MaxRecvMsgSize(64<<20),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			var request, answer []byte
			if err := stream.RecvMsg(&request); err != nil {
				return err
			}
			return stream.SendMsg(&answer)
		}))
	go func() {
		_ = server.Serve(l) // it ends with Stop
	}()
	return server, l.Addr().(*net.TCPAddr).Port, nil
}

// take sends traces that the collector has not seen yet, and waits until all spans are in
// the sink. Making the requests is no part of the time.
func (c *collector) take(of shape, traces int) (figures, error) {
	w, err := newWorkloadFrom(of, c.traces, traces, mixedSpans)
	if err != nil {
		return figures{}, err
	}
	c.traces += traces
	before, err := c.usage()
	if err != nil {
		return figures{}, err
	}
	start := time.Now()
	if err := c.send(w.wire); err != nil {
		return figures{}, err
	}
	for {
		after, err := c.usage()
		if err != nil {
			return figures{}, err
		}
		took := time.Since(start)
		switch n := after.spans - before.spans; {
		case n == w.spans:
			per := 1 / float64(w.spans)
			return figures{cpu: float64(after.cpu-before.cpu) * per, wall: float64(took) * per, allocs: -1}, nil
		case n > w.spans, took > patience:
			return figures{}, fmt.Errorf("%d spans were sent, and after %v %d have come out", w.spans, took, n)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *collector) send(requests [][]byte) error {
	var next atomic.Int64
	errs := make([]error, len(c.senders))
	var wg sync.WaitGroup
	for s, conn := range c.senders {
		wg.Go(func() {
			for errs[s] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(requests) {
					return
				}
				errs[s] = export(conn, requests[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// export sends a request that is there as bytes already, so that the sender takes as
// little of the processors as it can. The answer is empty if every span was accepted.
func export(conn *grpc.ClientConn, request []byte) error {
	var answer []byte
	err := conn.Invoke(context.Background(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
		&request, &answer, grpc.ForceCodec(asItIs{}))
	if err == nil && len(answer) > 0 && string(answer) != "\x0a\x00" { // an empty partial_success
		return fmt.Errorf("the collector did not accept all spans: %q", answer)
	}
	return err
}

// asItIs is a codec for messages that are bytes.
type asItIs struct{}

func (asItIs) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (asItIs) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (asItIs) Name() string { return "proto" }
