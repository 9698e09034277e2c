// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// What Read failed on has no ids to fall back on: that is an error, and none if
// the ids are given.
func TestEnvelopeOfFailedReading(t *testing.T) {
	in := &engine.Input{
		Kind: engine.KindJSON, SourceRef: "s", TargetRef: "t",
		Body: engine.Array(engine.Float(math.NaN())),
	}
	reading, err := in.Read()
	requireCode(t, engine.CodeSchemaInvalid, err)

	_, err = in.Envelope(reading, time.Unix(0, 0))
	requireCode(t, engine.CodeSchemaInvalid, err)
	in.ObservationID = "o"
	_, err = in.Envelope(reading, time.Unix(0, 0))
	requireCode(t, engine.CodeSchemaInvalid, err)
	in.ToolCallID = "c"
	env, err := in.Envelope(reading, time.Unix(0, 0))
	require.NoError(t, err)
	require.Empty(t, env.ContentHash)
}

func requireCode(t *testing.T, code engine.ErrorCode, err error) {
	t.Helper()
	var coded *engine.Error
	require.ErrorAs(t, err, &coded)
	require.Equal(t, code, coded.Code)
}
