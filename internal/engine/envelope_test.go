// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// What Read failed on has no ids to fall back on: that is an error, and none if
// the ids are given.
func TestEnvelopeOfFailedReading(t *testing.T) {
	in := &engine.Input{
		Kind: engine.KindJSON, SourceRef: "s", TargetRef: "t",
		Body: jsonvalue.Array(jsonvalue.Float(math.NaN())),
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

// TestEnvelopeClock: a clock that has no written form is refused where it has to be
// written, after what is wrong with the references and before what is too long or empty.
func TestEnvelopeClock(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		want     engine.ErrorCode
	}{
		"written":            {`{"source_ref":"s","target_ref":"t"}`, engine.CodeInvalidArgument},
		"not written":        {`{"source_ref":"s","target_ref":"t","observed_at":"soon"}`, ""},
		"no text":            {`{"source_ref":"s","target_ref":"t","observed_at":1}`, engine.CodeInvalidArgument},
		"empty":              {`{"source_ref":"s","target_ref":"t","observed_at":""}`, engine.CodeSchemaInvalid},
		"no source":          {`{"target_ref":"t"}`, engine.CodeSchemaInvalid},
		"version of no type": {`{"source_ref":"s","target_ref":"t","source_version":1}`, engine.CodeSchemaInvalid},
		"empty version":      {`{"source_ref":"s","target_ref":"t","source_version":""}`, engine.CodeInvalidArgument},
		"empty id":           {`{"source_ref":"s","target_ref":"t","tool_call_id":""}`, engine.CodeInvalidArgument},
		"empty evidence":     {`{"source_ref":"s","target_ref":"t","evidence_refs":[""]}`, engine.CodeInvalidArgument},
		"no evidence":        {`{"source_ref":"s","target_ref":"t","evidence_refs":null,"observed_at":"soon"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := engine.ParseDocument([]byte(tc.document), engine.FormatJSON)
			require.NoError(t, err)
			in, err := engine.DecodeInput(doc)
			require.NoError(t, err)
			reading, err := in.Read()
			require.NoError(t, err)
			for _, text := range []string{"9999-12-31T23:30:00-05:00", "\t0001-01-01T00:30:00+10:00 "} {
				now, err := engine.ParseClock(text)
				require.NoError(t, err)
				if _, err = in.Envelope(reading, now); tc.want == "" {
					require.NoError(t, err)
				} else {
					requireCode(t, tc.want, err)
				}
			}
		})
	}
}

func requireCode(t *testing.T, code engine.ErrorCode, err error) {
	t.Helper()
	var coded *engine.Error
	require.ErrorAs(t, err, &coded)
	require.Equal(t, code, coded.Code)
}
