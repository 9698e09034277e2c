// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// In mode stream, so many spans of a trace have a provisional verdict, and the
// session has one whatever their number.
func TestProvisionalVerdictsAreBounded(t *testing.T) {
	const maxProvisional = 256
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.StreamPolicy, func(c *Config) { c.Mode, c.MaxClockSkew = ModeStream, 24*time.Hour })
		p.start(t)
		for n := range maxProvisional + 50 {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call("t1", fmt.Sprint("s", n), "order", n, n+1)))
			synctest.Wait()
		}
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Root("t1")))
		time.Sleep(time.Minute)
		p.shutdown(t)
		provisional, sessions := 0, 0
		for _, td := range sink.AllTraces() {
			for span := range canonical.Spans(td) {
				if _, ok := span.Attributes().Get("resultseal.protocol.verdict"); ok && span.ParentSpanID() != [8]byte{} {
					provisional++
				}
				if _, ok := span.Attributes().Get("resultseal.session.compliance"); ok {
					sessions++
				}
			}
		}
		require.Equal(t, maxProvisional, provisional)
		require.Equal(t, 1, sessions)
	})
}
