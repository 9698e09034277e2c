// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// The log names so many tools and services, and each once.
func TestWarningsAreBounded(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	w := newWarnings(zap.New(core))
	o := score.Observation{Contract: &policy.Contract{}, Evaluation: engine.Evaluation{ReasonCodes: []engine.ReasonCode{"X"}}}
	for range 2 {
		for n := range 2 * maxWarned {
			o.Tool = fmt.Sprint("tool", n)
			w.warn(&o)
			w.gaps(&score.Session{Ahead: true, Service: fmt.Sprint("service", n)}, false)
		}
	}
	require.Equal(t, maxWarned, logs.FilterMessageSnippet("without usable content").Len())
	require.Equal(t, maxWarned, logs.FilterMessageSnippet("dated ahead").Len())
}
