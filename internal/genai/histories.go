// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// histories are the lists of messages that were read last from the spans of one
// trace. A model is given the whole conversation each time, so that most of a
// list is one that was read before, and goes on from there. What two spans show
// are then the same parts in one place. What models answer is not repeated.
//
// They are kept for one trace only, which one goroutine judges: values are not
// made to be shared by two.
type histories struct {
	trace TraceID
	lists [4]history // agents that work side by side take turns
	next  int        // the one that is replaced next
}

// history is a list that was read from a JSON array, all of it messages.
type history struct {
	text     string
	dialect  *Dialect
	messages []Message
}

// maxHistory bounds the text of a list that is kept. The parser takes more, so
// that no list is put together that would be too long for it as a whole.
const maxHistory = 4 << 20

// begin forgets the lists of another trace.
func (h *histories) begin(trace TraceID) {
	if h.trace != trace {
		*h = histories{trace: trace}
	}
}

// read reads a JSON array that is known, or goes on from one. It answers false if
// it has to be read as a whole.
func (h *histories) read(text string, role Role, d *Dialect) (list []Message, ok bool) {
	if h == nil || role != User || len(text) > maxHistory {
		return nil, false
	}
	for i := range h.lists {
		l := &h.lists[i]
		if l.text == "" || l.dialect != d {
			continue
		}
		if text == l.text {
			return l.list(), true
		}
		rest, goesOn := strings.CutPrefix(text, strings.TrimSuffix(l.text, "]"))
		if goesOn && strings.HasPrefix(rest, ",") {
			return l.goOn(text, rest[1:])
		}
	}
	return nil, false
}

// goOn reads the rest of a list, and keeps all of it instead.
func (l *history) goOn(text, rest string) (list []Message, ok bool) {
	v, err := jsonvalue.Parse("[" + rest)
	if err != nil || v.Len() == 0 {
		return nil, false
	}
	more, open, ok := looseMessages(v, User, l.dialect)
	if !ok || open || !strings.HasSuffix(text, "]") {
		return nil, false
	}
	// Spans have the list without the room behind it, so that nobody else appends
	// there.
	l.text, l.messages = text, append(l.messages, more...)
	return l.list(), true
}

func (l *history) list() []Message { return slices.Clip(l.messages) }

// readWhole reads what a JSON text holds. It keeps an array of messages unless
// the next element could belong to its last message.
func (h *histories) readWhole(v jsonvalue.Value, text string, role Role, d *Dialect) Messages {
	if h == nil || role != User || v.Kind() != jsonvalue.ArrayKind || v.Len() == 0 || v.Index(0).Kind() == jsonvalue.ArrayKind {
		return messagesOf(v, role, d)
	}
	list, open, ok := looseMessages(v, role, d)
	if ok && !open && len(text) <= maxHistory && strings.HasSuffix(text, "]") {
		h.lists[h.next] = history{text: text, dialect: d, messages: list}
		h.next = (h.next + 1) % len(h.lists)
	}
	return Messages{Recorded: true, Broken: !ok, List: slices.Clip(list)}
}
