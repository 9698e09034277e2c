// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Payload is what a contract is held against.
type Payload struct {
	Value jsonvalue.Value
	// Parsed is false for a result that could not be read. That is an answer of
	// the tool, and rule 3; it is no error.
	Parsed bool
}

// Reading is what an adapter makes of a result: what it says, how far it came,
// and the hash of what was observed, as it was given.
type Reading struct {
	Payload     Payload
	Transport   TransportState
	ContentHash string

	// What the adapter adds to the metadata; it wins over the user's.
	own []jsonvalue.Member

	ids string // the default observation and call ids, one after the other
}

// Read does the adapter's part, for which no identity is needed. Errors are those of
// YAML text (CodeParseFailed, CodeUnsafeInput, CodeLimitExceeded), of a result that has
// no canonical form (CodeSchemaInvalid), and of JSON text beyond a cap (CodeLimitExceeded).
//
// With an error the Reading holds nothing but Transport: how far the call came is known
// though its result cannot be read or hashed. An adapter document with such a result is
// refused. Telemetry code may go on with that Reading, whose payload is not parsed, so that
// a call that failed is known to have failed.
func (in *Input) Read() (Reading, error) {
	r := Reading{Transport: Transported, Payload: Payload{Parsed: true}}
	var observed jsonvalue.Value
	var err error
	switch in.Kind {
	case KindJSON:
		observed = in.Body
		r.Payload, err = parseBody(in.Body)
	case KindText:
		observed = in.Body
		r.Payload.Value = in.Body
	case KindHTTPJSON:
		observed = in.Body
		if in.StatusCode < 200 || in.StatusCode > 399 {
			r.Transport = TransportError // a failed call's body is no result
			break
		}
		r.Payload, err = parseBody(in.Body)
	case KindMCP:
		observed = in.readMCP(&r)
	case KindStdio:
		observed, err = in.readStdio(&r)
	case KindYAML:
		observed = in.Body
		r.Payload.Value, err = parseYAMLPayload(in.Body.Text())
	case KindClaimOnly:
		observed = in.Body
		r.Transport = Attempted
		if in.Body.Kind() == jsonvalue.StringKind {
			r.add("claimed_text", jsonvalue.String(firstRunes(in.Body.Text(), 200)))
		}
	default:
		return Reading{}, errorf(CodeInvalidArgument, "unknown input kind %d", in.Kind)
	}
	if err == nil {
		err = r.hash(observed)
	}
	if err != nil {
		return Reading{Transport: r.Transport}, err
	}
	return r, nil
}

// parseBody parses a body that is a string. The empty string is not parsed: it
// is no answer, not a broken one.
func parseBody(body jsonvalue.Value) (Payload, error) {
	if body.Kind() != jsonvalue.StringKind {
		return Payload{Value: body, Parsed: true}, nil
	}
	text := body.Text()
	if text == "" {
		return Payload{Parsed: true}, nil
	}
	return parseText(text)
}

func parseText(text string) (Payload, error) {
	v, err := jsonvalue.Parse(text)
	if err == nil {
		return Payload{Value: v, Parsed: true}, nil
	}
	if e := refusal(err); e.Code == CodeLimitExceeded {
		return Payload{}, e
	}
	return Payload{}, nil
}

func (in *Input) readMCP(r *Reading) (observed jsonvalue.Value) {
	if v, _ := in.Body.Get("isError"); v.Bool() {
		r.add("protocol_conflict", jsonvalue.Bool(true))
	}
	structured, _ := in.Body.Get("structuredContent")
	switch {
	case !structured.IsNull():
		observed = structured
		r.Payload.Value = observed
	default:
		observed = in.mcpText()
		if observed.Kind() == jsonvalue.StringKind || !in.document {
			r.Payload.Value = observed
		}
		if in.ParseText {
			if p, err := parseBody(observed); err == nil && p.Parsed {
				r.Payload = p
			}
		}
	}
	if structured.Kind() != jsonvalue.ObjectKind {
		return observed
	}
	schema, _ := in.Body.Get("outputSchema")
	required, _ := schema.Get("required")
	var missing []string
	if required.Kind() == jsonvalue.ArrayKind {
		for i := range required.Len() {
			field := required.Index(i)
			if field.Kind() != jsonvalue.StringKind {
				continue
			}
			if _, ok := structured.Get(field.Text()); !ok {
				missing = append(missing, field.Text())
			}
		}
	}
	if missing != nil {
		r.add("missing_schema_fields", jsonvalue.String(strings.Join(missing, ",")))
	}
	return observed
}

// mcpText is what a result without structure says. It is text to be shown to a
// model, not data for a program, so on its own it is never parsed.
func (in *Input) mcpText() jsonvalue.Value {
	if text, ok := in.Body.Get("text"); ok || in.document {
		return text
	}
	blocks, _ := in.Body.Get("content")
	if blocks.Kind() != jsonvalue.ArrayKind {
		return blocks
	}
	if blocks.Len() == 1 { // mostly
		if text, _ := blocks.Index(0).Get("text"); text.Kind() == jsonvalue.StringKind {
			return text
		}
		return blocks
	}
	var texts []string
	for i := range blocks.Len() {
		if text, _ := blocks.Index(i).Get("text"); text.Kind() == jsonvalue.StringKind {
			texts = append(texts, text.Text())
		}
	}
	switch {
	case len(texts) < blocks.Len():
		return blocks // images and resources are part of the answer
	case len(texts) == 0:
		return jsonvalue.Null()
	}
	return jsonvalue.String(strings.Join(texts, "\n"))
}

func (in *Input) readStdio(r *Reading) (observed jsonvalue.Value, err error) {
	stdout, _ := in.Body.Get("stdout")
	format, _ := in.Body.Get("output_format")
	switch {
	case in.ExitCode != 0:
		r.Transport = TransportError
	case stdout.Kind() == jsonvalue.StringKind && format.Text() == "json":
		r.Payload, err = parseBody(stdout)
	case stdout.Text() != "", stdout.Kind() == jsonvalue.ArrayKind, stdout.Kind() == jsonvalue.ObjectKind:
		r.Payload.Value = stdout
	}
	if command, _ := in.Body.Get("command"); command.Kind() == jsonvalue.StringKind {
		r.add("command", command)
	}
	return stdout, err
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func (r *Reading) add(key string, v jsonvalue.Value) {
	r.own = append(r.own, jsonvalue.Member{Key: key, Value: v})
}
