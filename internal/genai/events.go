// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// EventContent is the attribute under which some instrumentations put an event's
// whole body, as JSON.
const EventContent = "gen_ai.event.content"

// eventMessages reads messages from span events: a list in an attribute of one
// event, or one event for each message.
func eventMessages(events []EventAttribute, role Role, dialect *Dialect, span ptrace.Span) Messages {
	if len(events) == 0 || span.Events().Len() == 0 {
		return Messages{}
	}
	for _, e := range events {
		if e.Key == "" {
			continue
		}
		var all Messages // one event for each part of the list, or one for the list
		for _, event := range span.Events().All() {
			if event.Name() != e.Event {
				continue
			}
			if v, ok := event.Attributes().Get(e.Key); ok {
				m := readMessages(v, role, dialect, nil)
				all.Recorded = all.Recorded || m.Recorded
				all.Broken = all.Broken || m.Broken
				all.List = append(all.List, m.List...)
			}
		}
		if all.Recorded {
			return all
		}
	}
	var list Messages
	for _, event := range span.Events().All() {
		for _, e := range events {
			if e.Key != "" || event.Name() != e.Event {
				continue
			}
			list.Recorded = true
			if m, ok := messageOf(eventBody(event), e.Role, dialect); ok {
				if n := len(list.List); n > 0 && onlyAsks(&list.List[n-1]) && onlyAsks(&m) {
					// One answer that is recorded as an event for each call.
					list.List[n-1].Parts = append(list.List[n-1].Parts, m.Parts...)
					break
				}
				list.List = append(list.List, m)
			} else {
				list.List = append(list.List, Message{Role: e.Role, Uncaptured: true})
			}
			break
		}
	}
	return list
}

// onlyAsks reports whether a message is an assistant's that asks for calls and says
// nothing.
func onlyAsks(m *Message) bool {
	return m.Role == Assistant && len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind != CallPart })
}

// eventBody returns an event's attributes as an object. What is JSON there in
// one attribute stands beside the others.
func eventBody(event ptrace.SpanEvent) jsonvalue.Value {
	v, ok := event.Attributes().Get(EventContent)
	if !ok {
		return MapValue(event.Attributes())
	}
	body := ValueOf(v)
	if body.Kind() == jsonvalue.StringKind {
		if parsed, err := jsonvalue.Parse(body.Text()); err == nil {
			body = parsed
		}
	}
	if body.Kind() != jsonvalue.ObjectKind {
		return jsonvalue.Object(jsonvalue.Member{Key: "content", Value: body})
	}
	return body
}
