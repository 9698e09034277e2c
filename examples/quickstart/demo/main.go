// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo runs the quickstart: it starts the collector of this
// repository with examples/quickstart/collector.yaml, sends it a recorded
// agent run over OTLP/HTTP, waits for the annotated spans, and prints what
// was said of each tool call and each session.
//
// It is run by `make demo`, from the top of the repository. The collector is
// its child and is stopped before it exits, whatever happens. If something is
// wrong it says what, prints the collector's log, and exits 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type options struct {
	collector, config, policy, traces, out string
	timeout, grace                         time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.collector, "collector", "dist/otelcol-resultseal", "the collector's binary")
	flag.StringVar(&o.config, "config", "examples/quickstart/collector.yaml", "its configuration")
	flag.StringVar(&o.policy, "policy", "examples/quickstart/policy.yaml", "the policy")
	flag.StringVar(&o.traces, "traces", "testdata/quickstart/support.jsonl", "recorded spans: OTLP JSON, one request a line")
	flag.StringVar(&o.out, "out", "dist/quickstart", "the folder for the annotated spans and the collector's log")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "when to give up")
	flag.DurationVar(&o.grace, "grace", 15*time.Second, "how long the collector may take to stop")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the demo. It returns after the collector has exited.
func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("gave up after %v", o.timeout))
	defer cancel()

	requests, spans, err := readRequests(o.traces)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	annotated := filepath.Join(o.out, "annotated.jsonl")
	if err := os.Remove(annotated); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	c, err := startCollector(ctx, o, annotated)
	if err != nil {
		return err
	}
	err = func() error {
		if err := c.waitUntilHealthy(ctx); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "Sending %d spans from %s to http://127.0.0.1:%d/v1/traces\n", spans, o.traces, c.ports.http)
		for _, request := range requests {
			if err := c.send(ctx, request); err != nil {
				return err
			}
		}
		return c.waitForSpans(ctx, annotated, spans)
	}()
	// The collector is stopped in any case; what is still on its way to the
	// file is written then.
	if stopped := c.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		c.printLog(stderr)
		return err
	}

	result, err := readVerdicts(annotated)
	if err != nil {
		return err
	}
	result.print(stdout)
	fmt.Fprintf(stdout, "\nAnnotated spans: %s\nCollector's log: %s\n", annotated, c.logPath)
	return result.check(spans)
}
