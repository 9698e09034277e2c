// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// send gives one request to a collector. It returns nil if the collector
// accepted all of it.
type send func(ctx context.Context, td ptrace.Traces) error

// transports are the ways into a collector.
var transports = []struct {
	name string
	dial func(*testing.T, *collector) send
}{
	{"grpc", overGRPC},
	{"http protobuf", overHTTP("application/x-protobuf", ptraceotlp.ExportRequest.MarshalProto, ptraceotlp.ExportResponse.UnmarshalProto)},
	{"http json", overHTTP("application/json", ptraceotlp.ExportRequest.MarshalJSON, ptraceotlp.ExportResponse.UnmarshalJSON)},
}

func overGRPC(t *testing.T, c *collector) send {
	t.Helper()
	conn, err := grpc.NewClient(address(c.ports.GRPC), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	client := ptraceotlp.NewGRPCClient(conn)
	return func(ctx context.Context, td ptrace.Traces) error {
		response, err := client.Export(ctx, ptraceotlp.NewExportRequestFromTraces(td))
		if err != nil {
			return err
		}
		return wholly(response)
	}
}

func overHTTP(
	contentType string,
	marshal func(ptraceotlp.ExportRequest) ([]byte, error),
	unmarshal func(ptraceotlp.ExportResponse, []byte) error,
) func(*testing.T, *collector) send {
	return func(_ *testing.T, c *collector) send {
		return func(ctx context.Context, td ptrace.Traces) error {
			body, err := marshal(ptraceotlp.NewExportRequestFromTraces(td))
			if err != nil {
				return err
			}
			answer, err := post(ctx, c, contentType, body)
			if err != nil {
				return err
			}
			response := ptraceotlp.NewExportResponse()
			if err := unmarshal(response, answer); err != nil {
				return err
			}
			return wholly(response)
		}
	}
}

// post sends a request's body as it is.
func post(ctx context.Context, c *collector, contentType string, body []byte) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url(c.ports.HTTP, "/v1/traces"), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := localClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, answer)
	}
	return answer, nil
}

// wholly tells an answer that part of a request was refused.
func wholly(response ptraceotlp.ExportResponse) error {
	if partial := response.PartialSuccess(); partial.RejectedSpans() != 0 || partial.ErrorMessage() != "" {
		return fmt.Errorf("%d spans were refused: %s", partial.RejectedSpans(), partial.ErrorMessage())
	}
	return nil
}

// batches splits records into requests of at most size spans.
func batches(records []record, size int) []ptrace.Traces {
	var out []ptrace.Traces
	for chunk := range slices.Chunk(records, size) {
		out = append(out, putTogether(chunk))
	}
	return out
}

// shuffled is the same records in another order, always the same for a seed.
func shuffled(records []record, seed uint64) []record {
	out := slices.Clone(records)
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// sendAll sends requests from several senders at a time; one keeps their order.
func sendAll(ctx context.Context, senders int, requests []func(context.Context) error) error {
	queue := make(chan func(context.Context) error)
	failures := make([]error, senders)
	var group sync.WaitGroup
	for i := range senders {
		group.Go(func() {
			for request := range queue {
				failures[i] = errors.Join(failures[i], request(ctx))
			}
		})
	}
	for _, request := range requests {
		queue <- request
	}
	close(queue)
	group.Wait()
	return errors.Join(failures...)
}

// delivery is a set of whole traces and the way in which they are sent. Two
// deliveries to one collector have no trace in common.
type delivery struct {
	name    string
	records []record
	senders int
	// requests are made for the collector that gets them.
	requests func(*testing.T, *collector) []func(context.Context) error
}

// through sends each batch as a request of its own.
func through(dial func(*testing.T, *collector) send, all []ptrace.Traces) func(*testing.T, *collector) []func(context.Context) error {
	return func(t *testing.T, c *collector) []func(context.Context) error {
		t.Helper()
		transport := dial(t, c)
		out := make([]func(context.Context) error, len(all))
		for i, td := range all {
			out[i] = func(ctx context.Context) error { return transport(ctx, td) }
		}
		return out
	}
}

// deliver starts a collector, sends everything, and returns when all of it came
// out. The collector still runs.
//
// A trace is judged by the spans that came while it was held, so a delivery
// must not take longer than that. One that did, on a busy machine, proves
// nothing, and everything is done once more with a collector that holds traces
// longer.
func deliver(t *testing.T, s settings, deliveries []delivery) (*collector, map[string][]record) {
	t.Helper()
	processor := s.Processor
	for held := 2 * time.Second; ; held *= 3 {
		s.Processor = append(slices.Clone(processor), holding(held, held+held/2)...)
		c := start(t, s)
		total, slowest := 0, time.Duration(0)
		for _, d := range deliveries {
			requests := d.requests(t, c)
			begin := time.Now()
			require.NoError(t, sendAll(t.Context(), d.senders, requests), d.name)
			slowest = max(slowest, time.Since(begin))
			total += len(d.records)
		}
		if slowest < held*9/10 {
			c.output.await(t, total)
			return c, sortOut(t, deliveries, c.output.read(t))
		}
		c.stop(t)
		require.Less(t, held, patience, "this machine is too busy: sending took %v", slowest)
	}
}

// sortOut gives what came out back to the deliveries that it came from.
func sortOut(t *testing.T, deliveries []delivery, got []record) map[string][]record {
	t.Helper()
	traces := byTrace(got)
	out := make(map[string][]record, len(deliveries))
	known := 0
	for _, d := range deliveries {
		for id := range byTrace(d.records) {
			out[d.name] = append(out[d.name], traces[id]...)
			known++
		}
	}
	require.Len(t, traces, known, "traces, of which some were sent in no delivery or in two")
	return out
}
