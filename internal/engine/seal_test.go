// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

func evaluate(t *testing.T, c *Contract, in *Input, adjust func(*Envelope)) (Evaluation, Reading) {
	t.Helper()
	r, err := in.Read()
	require.NoError(t, err)
	env, err := in.Envelope(r, benchmarkNow)
	require.NoError(t, err)
	if adjust != nil {
		adjust(&env)
	}
	return c.Evaluate(&env, r.Payload, benchmarkNow), r
}

// TestText: the payload of a text is the text, and nothing in it is looked for.
func TestText(t *testing.T) {
	in := benchmarkInput(KindText)
	in.Body = jsonvalue.String(`{"customer_id": 1}`)
	ev, r := evaluate(t, benchmarkContract(), in, nil)
	require.Equal(t, StateSealed, ev.TruthState)
	want, err := Hash(in.Body)
	require.NoError(t, err)
	require.Equal(t, want, r.ContentHash)
	ev, _ = evaluate(t, benchmarkContract("customer_id"), in, nil)
	require.Equal(t, StatePartial, ev.TruthState)
	require.Equal(t, []string{"customer_id"}, ev.MissingFields)
	in.Body = jsonvalue.String("")
	ev, _ = evaluate(t, benchmarkContract(), in, nil)
	require.Equal(t, StateEmpty, ev.TruthState)

	// It is no published kind, so no document can name it.
	_, err = DecodeInput(jsonvalue.Object(jsonvalue.Member{Key: "kind", Value: jsonvalue.String("text")}))
	requireCoded(t, err, CodeSchemaInvalid)
}

// TestGap: what was not recorded decides after a failure and before everything
// that could be seen, unless something is known to contradict itself.
func TestGap(t *testing.T) {
	in := benchmarkInput(KindJSON)
	in.Body = jsonvalue.String("{broken")
	in.TargetRef = "customer:43"
	in.Gap = ReasonResultTruncated
	is := func(state TruthState, reason ReasonCode, adjust func(*Envelope)) {
		t.Helper()
		ev, _ := evaluate(t, benchmarkContract(), in, adjust)
		require.Equal(t, Evaluation{Decision: Blocked, TruthState: state, ReasonCodes: []ReasonCode{reason}}, ev)
	}
	is(StateUnknown, ReasonResultTruncated, nil)
	is(StateUnknown, ReasonTransportFailed, func(e *Envelope) { e.Transport = TransportError })
	is(StateUnknown, ReasonNoDispatch, func(e *Envelope) { e.Transport = Attempted })
	is(StateUnknown, ReasonNoDispatch, func(e *Envelope) { e.Transport = Dispatched })
	is(StateUnknown, ReasonProtocolConflict, func(e *Envelope) { e.ProtocolConflict = true })
	is(StateParseError, ReasonParseFailed, func(e *Envelope) { e.Gap = "" })
	is(StateUnknown, "SOMETHING_NEW", func(e *Envelope) { e.Gap = "SOMETHING_NEW" })
}

// TestMCPFromTelemetry: a result as the protocol defines it has its text in content
// blocks; an adapter document has a text.
func TestMCPFromTelemetry(t *testing.T) {
	block := func(text string) jsonvalue.Value {
		return jsonvalue.Object(jsonvalue.Member{Key: "type", Value: jsonvalue.String("text")}, jsonvalue.Member{Key: "text", Value: jsonvalue.String(text)})
	}
	image := jsonvalue.Object(jsonvalue.Member{Key: "type", Value: jsonvalue.String("image")}, jsonvalue.Member{Key: "data", Value: jsonvalue.String("AA==")})
	read := func(parse bool, members ...jsonvalue.Member) Payload {
		in := Input{Kind: KindMCP, Body: jsonvalue.Object(members...), ParseText: parse}
		r, err := in.Read()
		require.NoError(t, err)
		return r.Payload
	}
	content := func(blocks ...jsonvalue.Value) jsonvalue.Member {
		return jsonvalue.Member{Key: "content", Value: jsonvalue.Array(blocks...)}
	}
	require.Equal(t, "a\nb", read(false, content(block("a"), block("b"))).Value.Text())
	require.Equal(t, `{"a":1}`, read(false, content(block(`{"a":1}`))).Value.Text())
	require.Equal(t, jsonvalue.ObjectKind, read(true, content(block(`{"a":1}`))).Value.Kind())
	require.Equal(t, "no JSON", read(true, content(block("no JSON"))).Value.Text())
	require.True(t, read(true, content(block("no JSON"))).Parsed)
	require.Equal(t, 2, read(false, content(block("a"), image)).Value.Len())
	require.True(t, read(false, content()).Value.IsNull())
	require.Equal(t, jsonvalue.IntKind, read(false, content(block("x")), jsonvalue.Member{Key: "structuredContent", Value: jsonvalue.Int(1)}).Value.Kind())

	in, err := DecodeInput(jsonvalue.Object(jsonvalue.Member{Key: "kind", Value: jsonvalue.String("mcp")}, content(block("a"))))
	require.NoError(t, err)
	r, err := in.Read()
	require.NoError(t, err)
	require.True(t, r.Payload.Value.IsNull())
}

// TestTransportOfUnreadable: how far a call came is known though its result cannot be
// hashed.
func TestTransportOfUnreadable(t *testing.T) {
	notFinite, err := jsonvalue.Parse("[NaN]")
	require.NoError(t, err)
	for _, body := range []jsonvalue.Value{jsonvalue.String("\xff"), notFinite} {
		for _, tc := range []struct {
			in   Input
			want TransportState
		}{
			{Input{Kind: KindHTTPJSON, StatusCode: 500, Body: body}, TransportError},
			{Input{Kind: KindHTTPJSON, StatusCode: 200, Body: body}, Transported},
			{Input{Kind: KindStdio, ExitCode: 1, Body: jsonvalue.Object(jsonvalue.Member{Key: "stdout", Value: body})}, TransportError},
			{Input{Kind: KindClaimOnly, Body: body}, Attempted},
		} {
			r, err := tc.in.Read()
			requireCoded(t, err, CodeSchemaInvalid)
			require.Equal(t, Reading{Transport: tc.want}, r)

			tc.in.SourceRef, tc.in.TargetRef = "crm://customers", "customer:42"
			tc.in.ObservationID, tc.in.ToolCallID = "obs_1", "call_1"
			tc.in.Gap = ReasonSchemaInvalid
			env, err := tc.in.Envelope(r, benchmarkNow)
			require.NoError(t, err)
			want := map[TransportState]ReasonCode{
				TransportError: ReasonTransportFailed, Transported: ReasonSchemaInvalid, Attempted: ReasonNoDispatch,
			}[tc.want]
			require.Equal(t, []ReasonCode{want}, benchmarkContract().Evaluate(&env, r.Payload, benchmarkNow).ReasonCodes)
		}
	}
}

// TestInputErrorsBeforeIdentity: a result that cannot be read is told before an
// identity that is wrong.
func TestInputErrorsBeforeIdentity(t *testing.T) {
	in, err := DecodeInput(jsonvalue.Object(jsonvalue.Member{Key: "kind", Value: jsonvalue.String("yaml")}, jsonvalue.Member{Key: "value", Value: jsonvalue.String("*a")}))
	require.NoError(t, err)
	_, err = in.Read()
	requireCoded(t, err, CodeUnsafeInput)
	in, err = DecodeInput(jsonvalue.Object(jsonvalue.Member{Key: "body", Value: jsonvalue.Int(1)}))
	require.NoError(t, err)
	r, err := in.Read()
	require.NoError(t, err)
	_, err = in.Envelope(r, benchmarkNow)
	requireCoded(t, err, CodeSchemaInvalid)
}

// TestEnvelopeLimits: every text may be as long as published, and no longer.
func TestEnvelopeLimits(t *testing.T) {
	version := func(in *Input, s string) { in.SourceVersion = &s }
	for name, tc := range map[string]struct {
		set   func(*Input, string)
		limit int
	}{
		"source_ref":     {func(in *Input, s string) { in.SourceRef = s }, 1024},
		"target_ref":     {func(in *Input, s string) { in.TargetRef = s }, 1024},
		"tool_name":      {func(in *Input, s string) { in.ToolName = s }, 256},
		"tool_call_id":   {func(in *Input, s string) { in.ToolCallID = s }, 256},
		"observation_id": {func(in *Input, s string) { in.ObservationID = s }, 256},
		"observed_at":    {func(in *Input, s string) { in.ObservedAt = s }, 64},
		"source_version": {version, 256},
		"evidence_ref":   {func(in *Input, s string) { in.EvidenceRefs = []string{s} }, 2048},
		"evidence_refs":  {func(in *Input, s string) { in.EvidenceRefs = strings.Split(s, "")[:len([]rune(s))] }, 64},
	} {
		for _, unit := range []string{"x", "é", "😀"} {
			for _, over := range []int{0, 1} {
				in := benchmarkInput(KindJSON)
				tc.set(in, strings.Repeat(unit, tc.limit+over))
				r, err := in.Read()
				require.NoError(t, err)
				_, err = in.Envelope(r, benchmarkNow)
				if over == 0 {
					require.NoError(t, err, name)
				} else {
					requireCoded(t, err, CodeSchemaInvalid)
				}
			}
		}
	}
	in := benchmarkInput(KindJSON)
	in.SourceRef = "a\xff"
	r, err := in.Read()
	require.NoError(t, err)
	_, err = in.Envelope(r, benchmarkNow)
	requireCoded(t, err, CodeSchemaInvalid)
}

// TestMetadata: the kind first, then the user's, then the adapter's, of equal keys
// the last.
func TestMetadata(t *testing.T) {
	in := benchmarkInput(KindMCP)
	in.Metadata = []jsonvalue.Member{{Key: "a", Value: jsonvalue.Int(1)}, {Key: "input_kind", Value: jsonvalue.String("mine")}, {Key: "protocol_conflict", Value: jsonvalue.Bool(false)}, {Key: "a", Value: jsonvalue.Int(2)}}
	in.Body = jsonvalue.Object(jsonvalue.Member{Key: "isError", Value: jsonvalue.Bool(true)}, jsonvalue.Member{Key: "text", Value: jsonvalue.String("x")})
	r, err := in.Read()
	require.NoError(t, err)
	env, err := in.Envelope(r, benchmarkNow)
	require.NoError(t, err)
	require.True(t, env.ProtocolConflict)
	require.Equal(t, []jsonvalue.Member{{Key: "input_kind", Value: jsonvalue.String("mine")}, {Key: "a", Value: jsonvalue.Int(2)}, {Key: "protocol_conflict", Value: jsonvalue.Bool(true)}}, env.Metadata())

	in.Metadata = nil
	for i := range maxMetadata {
		in.Metadata = append(in.Metadata, jsonvalue.Member{Key: strings.Repeat("k", i+1)})
	}
	_, err = in.Envelope(r, benchmarkNow)
	requireCoded(t, err, CodeSchemaInvalid)
	in.Metadata = in.Metadata[:maxMetadata-2] // with the kind and the conflict
	_, err = in.Envelope(r, benchmarkNow)
	require.NoError(t, err)
}

// TestYAMLTimeStaysOld: an observation that says in YAML, without quotes, when it
// was made does not become fresh by that.
func TestYAMLTimeStaysOld(t *testing.T) {
	doc, err := ParseDocument([]byte("source_ref: s\ntarget_ref: t\nbody: 1\nobserved_at: 2001-01-01T00:00:00Z\n"), FormatYAML)
	require.NoError(t, err)
	c := &Contract{
		SchemaVersion: "1", ClaimType: ClaimFound, SourceRef: "s", TargetRef: "t",
		Freshness: Freshness{Mode: FreshnessMaxAge, MaxAgeSeconds: 60},
	}
	report, err := c.Check(doc, benchmarkNow, nil)
	require.NoError(t, err)
	require.Equal(t, StateStale, report.Evaluation.TruthState)
	require.Equal(t, "2001-01-01T00:00:00Z", report.Envelope.ObservedAt)
}

// TestAgeLimit: exactly the limit is fresh, a microsecond more is not, and neither
// is a microsecond from the future.
func TestAgeLimit(t *testing.T) {
	c := benchmarkContract()
	c.Freshness = Freshness{Mode: FreshnessMaxAge, MaxAgeSeconds: 60}
	for age, want := range map[time.Duration]TruthState{
		0: StateSealed, time.Minute: StateSealed, time.Minute + time.Microsecond: StateStale, -time.Microsecond: StateStale,
		time.Minute + time.Nanosecond: StateSealed, // nothing is finer than a microsecond
	} {
		in := benchmarkInput(KindJSON)
		in.Body = jsonvalue.Int(1)
		in.ObservedAt = benchmarkNow.Format(time.RFC3339)
		r, err := in.Read()
		require.NoError(t, err)
		env, err := in.Envelope(r, benchmarkNow)
		require.NoError(t, err)
		require.Equal(t, want, c.Evaluate(&env, r.Payload, benchmarkNow.Add(age)).TruthState, age)
	}
}

// TestContractOrder: of two faults the one that is checked first is told, which
// shows in the code.
func TestContractOrder(t *testing.T) {
	good := []jsonvalue.Member{
		{Key: "schema_version", Value: jsonvalue.String("1")},
		{Key: "claim_type", Value: jsonvalue.String("found")},
		{Key: "required_fields", Value: jsonvalue.Array()},
		{Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("not_required")})},
		{Key: "source_ref", Value: jsonvalue.String("s")},
		{Key: "target_ref", Value: jsonvalue.String("t")},
	}
	with := func(members ...jsonvalue.Member) jsonvalue.Value {
		return jsonvalue.Object(append(append([]jsonvalue.Member(nil), good...), members...)...)
	}
	_, err := DecodeContract(with())
	require.NoError(t, err)
	wrongType := jsonvalue.Member{Key: "source_ref", Value: jsonvalue.Int(1)} // SCHEMA_INVALID
	for name, m := range map[string]jsonvalue.Member{
		"version":        {Key: "schema_version", Value: jsonvalue.Int(1)},
		"unknown key":    {Key: "x", Value: jsonvalue.Int(1)},
		"freshness":      {Key: "freshness", Value: jsonvalue.Int(1)},
		"freshness key":  {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("not_required")}, jsonvalue.Member{Key: "x", Value: jsonvalue.Null()})},
		"mode":           {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("x")})},
		"age type":       {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("not_required")}, jsonvalue.Member{Key: "max_age_seconds", Value: jsonvalue.Bool(true)})},
		"effect flag":    {Key: "effect_evidence_required", Value: jsonvalue.Null()},
		"claim":          {Key: "claim_type", Value: jsonvalue.String("sealed")},
		"fields":         {Key: "required_fields", Value: jsonvalue.Null()},
		"type of fields": {Key: "required_fields", Value: jsonvalue.Array(jsonvalue.Int(1))},
	} {
		_, err := DecodeContract(with(wrongType, m))
		requireCoded(t, err, CodeContractInvalid)
		_ = name
	}
	for name, m := range map[string]jsonvalue.Member{
		"age of another mode": {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("not_required")}, jsonvalue.Member{Key: "max_age_seconds", Value: jsonvalue.Int(1)})},
		"age missing":         {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("max_age_seconds")})},
		"age out of range":    {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("max_age_seconds")}, jsonvalue.Member{Key: "max_age_seconds", Value: jsonvalue.Int(-1)})},
		"version missing":     {Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String("source_version")})},
		"empty target":        {Key: "target_ref", Value: jsonvalue.String("")},
		"empty field":         {Key: "required_fields", Value: jsonvalue.Array(jsonvalue.String(""))},
		"long sentinel":       {Key: "not_found_sentinel", Value: jsonvalue.String(strings.Repeat("x", 257))},
	} {
		_, err := DecodeContract(with(m))
		requireCoded(t, err, CodeContractInvalid)
		_, err = DecodeContract(with(wrongType, m))
		requireCoded(t, err, CodeSchemaInvalid)
		_ = name
	}
}

// TestRecord: redaction comes before the fingerprint, and the fingerprint is the
// hash of everything else.
func TestRecord(t *testing.T) {
	in := benchmarkInput(KindJSON)
	in.Body = jsonvalue.Int(1)
	c := benchmarkContract()
	r, err := in.Read()
	require.NoError(t, err)
	env, err := in.Envelope(r, benchmarkNow)
	require.NoError(t, err)
	ev := c.Evaluate(&env, r.Payload, benchmarkNow)
	plain, err := NewRecord(c, &env, ev, nil)
	require.NoError(t, err)
	for _, field := range plain.Fields()[:9] {
		record, err := NewRecord(c, &env, ev, []string{field.Key})
		require.NoError(t, err)
		require.NotEqual(t, plain.Fingerprint, record.Fingerprint)
		published, err := jsonvalue.Parse(string(record.AppendCanonical(nil)))
		require.NoError(t, err)
		got, _ := published.Get(field.Key)
		require.Equal(t, redacted, got.Text())
		require.True(t, jsonvalue.Equal(jsonvalue.Object(record.Fields()...), published))
	}
	for _, field := range []string{"deterministic_fingerprint", "nope", "reason_codes.0"} {
		record, err := NewRecord(c, &env, ev, []string{field})
		require.NoError(t, err)
		require.Equal(t, plain.Fingerprint, record.Fingerprint)
	}
	fields := plain.Fields()
	hash, err := Hash(jsonvalue.Object(fields[:9]...))
	require.NoError(t, err)
	require.Equal(t, hash, plain.Fingerprint)
}
