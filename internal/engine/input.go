// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/resultseal/otelcol-resultseal/internal/jsonvalue"

// Input is an adapter document: a tool's result in the form that it came in,
// and what is known about where it came from. DecodeInput reads one from a
// document; telemetry code fills it in directly.
type Input struct {
	Kind InputKind

	// Identity. "" is absent: the tool name and the ids then get defaults, and so
	// does ObservedAt (the reference clock); SourceRef and TargetRef must be given,
	// except that a claim without a call has defaults for them.
	ToolName      string
	ToolCallID    string
	ObservationID string
	SourceRef     string
	TargetRef     string
	ObservedAt    string
	SourceVersion *string
	EvidenceRefs  []string
	Metadata      []jsonvalue.Member // scalars; of equal keys the last counts

	// Body is the result. KindJSON, KindText, KindHTTPJSON: the body. KindMCP: the
	// result object (structuredContent, text or a list of content blocks, isError,
	// outputSchema). KindStdio: an object (stdout, output_format, command). KindYAML: the text. KindClaimOnly:
	// the claim.
	Body jsonvalue.Value

	StatusCode int64 // KindHTTPJSON
	ExitCode   int64 // KindStdio

	// ParseText makes KindMCP parse a result's text if it is JSON, as telemetry
	// that does not know structured results needs it. An extension.
	ParseText bool

	// Gap names what telemetry did not record of the result, "" if nothing lacks.
	Gap ReasonCode

	// document: DecodeInput made this, so the published forms alone count.
	document bool

	// defect is what DecodeInput found wrong with the identity, and late a defect that
	// is found only after the clock was written. They are reported after the adapter's
	// own errors.
	defect, late *Error
}

// DecodeInput reads an adapter document. Errors have CodeSchemaInvalid. What is
// wrong with a document's identity is reported by Envelope, not here, because
// a result that cannot be read is the more telling error.
func DecodeInput(doc jsonvalue.Value) (*Input, error) {
	if doc.Kind() != jsonvalue.ObjectKind {
		return nil, errorf(CodeSchemaInvalid, "the document must be an object, not %s", doc.Kind())
	}
	in := &Input{document: true}
	if err := in.decodeKind(doc); err != nil {
		return nil, err
	}
	if err := in.decodeBody(doc); err != nil {
		return nil, err
	}
	in.decodeIdentity(doc)
	return in, nil
}

// kindMarks are the keys whose presence tells the kind of a document that does
// not name it, in order of precedence.
var kindMarks = []struct {
	key  string
	kind InputKind
}{
	{"structuredContent", KindMCP},
	{"isError", KindMCP},
	{"outputSchema", KindMCP},
	{"exit_code", KindStdio},
	{"stdout", KindStdio},
	{"stderr", KindStdio},
	{"status_code", KindHTTPJSON},
}

func (in *Input) decodeKind(doc jsonvalue.Value) error {
	name, _ := doc.Get("kind")
	if name.IsNull() {
		in.Kind = KindJSON
		for _, m := range kindMarks {
			if _, ok := doc.Get(m.key); ok {
				in.Kind = m.kind
				break
			}
		}
		return nil
	}
	kind, ok := ParseInputKind(name.Text())
	if !ok || kind == KindText { // text is no published kind
		return errorf(CodeSchemaInvalid, "kind must be one of json, http_json, mcp, stdio, yaml, claim_only")
	}
	in.Kind = kind
	return nil
}

func (in *Input) decodeBody(doc jsonvalue.Value) error {
	var err error
	switch in.Kind {
	case KindJSON:
		in.Body, _ = doc.Get("body")
	case KindHTTPJSON:
		in.Body, _ = doc.Get("body")
		in.StatusCode, err = code(doc, "status_code")
	case KindStdio:
		in.Body = doc
		in.ExitCode, err = code(doc, "exit_code")
	case KindMCP:
		in.Body = doc
	case KindYAML:
		in.Body, _ = doc.Get("value")
		if in.Body.Kind() != jsonvalue.StringKind {
			return errorf(CodeSchemaInvalid, "value must be a string")
		}
	case KindClaimOnly:
		in.Body, _ = doc.Get("claim")
	}
	return err
}

// code reads an integer. One that does not fit is as good as any other that is
// out of every range that matters.
func code(doc jsonvalue.Value, key string) (int64, error) {
	v, _ := doc.Get(key)
	if v.Kind() != jsonvalue.IntKind {
		return 0, errorf(CodeSchemaInvalid, "%s must be an integer", key)
	}
	n, ok := v.Int64()
	if !ok {
		n = -1
	}
	return n, nil
}

func (in *Input) decodeIdentity(doc jsonvalue.Value) {
	in.SourceRef = in.ref(doc, "source_ref")
	target := "target_ref"
	if in.Kind == KindHTTPJSON {
		// What was asked for stands in for what answered, but only where the document
		// does not speak of its target at all.
		for _, key := range []string{"target_ref", "response_target", "request_target"} {
			if _, ok := doc.Get(key); ok {
				target = key
				break
			}
		}
	}
	in.TargetRef = in.ref(doc, target)

	if v, ok := doc.Get("tool_name"); ok && !v.IsNull() {
		in.ToolName = in.optional(v, "tool_name")
	}
	in.ToolCallID = in.id(doc, "tool_call_id")
	in.ObservationID = in.id(doc, "observation_id")
	in.ObservedAt = in.id(doc, "observed_at")
	if v, ok := doc.Get("source_version"); ok && !v.IsNull() {
		version := in.optional(v, "source_version")
		in.SourceVersion = &version
	}
	if v, ok := doc.Get("evidence_refs"); ok && !v.IsNull() {
		in.decodeEvidence(v)
	}
	if v, ok := doc.Get("metadata"); ok && v.Kind() == jsonvalue.ObjectKind {
		for i := range v.Len() {
			key, value := v.Member(i)
			if value.Kind() == jsonvalue.ArrayKind || value.Kind() == jsonvalue.ObjectKind || !v.StringKey(i) {
				continue
			}
			in.Metadata = append(in.Metadata, jsonvalue.Member{Key: key, Value: value})
		}
	}
}

func (in *Input) decodeEvidence(v jsonvalue.Value) {
	if v.Kind() != jsonvalue.ArrayKind {
		in.fault("evidence_refs must be a list")
		return
	}
	in.EvidenceRefs = make([]string, v.Len())
	for i := range in.EvidenceRefs {
		in.EvidenceRefs[i] = in.optional(v.Index(i), "evidence_refs")
	}
}

// ref reads a reference. A claim without a call may lack it.
func (in *Input) ref(doc jsonvalue.Value, key string) string {
	v, _ := doc.Get(key)
	if v.IsNull() && in.Kind == KindClaimOnly {
		return ""
	}
	return in.text(v, key)
}

// id reads an optional text. What is no string is ignored; an unquoted YAML time
// is taken as it is written, so that an old observation stays old.
func (in *Input) id(doc jsonvalue.Value, key string) string {
	v, ok := doc.Get(key)
	switch {
	case !ok:
		return ""
	case v.Kind() == jsonvalue.TimestampKind && key == "observed_at":
		return v.Timestamp()
	case v.Kind() != jsonvalue.StringKind:
		return ""
	case key == "observed_at":
		return in.text(v, key) // the clock does not stand in for an empty one
	}
	return in.optional(v, key)
}

// text reads a string that must be given.
func (in *Input) text(v jsonvalue.Value, key string) string {
	text := v.Text()
	if text == "" {
		in.fault("%s must be a non-empty string", key)
	}
	return text
}

// optional reads a string that may be left out, but not be empty.
func (in *Input) optional(v jsonvalue.Value, key string) string {
	text := v.Text()
	switch {
	case v.Kind() != jsonvalue.StringKind:
		in.fault("%s must be a non-empty string", key)
	case text == "" && in.late == nil:
		in.late = errorf(CodeSchemaInvalid, "%s must be a non-empty string", key)
	}
	return text
}

// fault notes the first thing that is wrong with the identity.
func (in *Input) fault(format string, args ...any) {
	if in.defect == nil {
		in.defect = errorf(CodeSchemaInvalid, format, args...)
	}
}
