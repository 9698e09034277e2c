// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"
	"sort"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// history is the conversation as a session's model calls have shown it so far.
// Models are given the whole of it again and again, or only what is new, or a
// shortened version; it tells what of an input was not there before.
//
// Messages are remembered by hash, so that an idle conversation stays small and
// holds no content.
type history struct {
	items  []item
	opened bool // the first model call has been read
	// begun is where the messages of the current trace begin.
	begun int
	// pieces is set once a model was shown only what is new: from then on no input
	// is taken for the beginning once more.
	pieces bool

	at map[uint64][]int // positions in items by hash; made when it is needed

	work *work // of the trace that is read
}

type item struct {
	hash uint64
	role genai.Role
}

// maxHistory bounds what is remembered of a conversation that goes on for ever:
// the last so many messages. A model's input that repeats older ones begins
// before what is known, as a shortened one does.
const maxHistory = 4096

// enter begins a further trace.
func (h *history) enter() { h.begun = len(h.items) }

// rest puts the history away until the next trace of its conversation.
func (h *history) rest() {
	h.at, h.work = nil, nil
	if n := len(h.items); n > maxHistory {
		h.items = append([]item(nil), h.items[n-maxHistory:]...)
	}
	h.items = h.items[:len(h.items):len(h.items)]
	h.pieces = false
}

func (h *history) wake() {
	if h.at != nil {
		return
	}
	h.at = make(map[uint64][]int, len(h.items))
	for i, it := range h.items {
		h.at[it.hash] = append(h.at[it.hash], i)
	}
}

// hash identifies a message by who it is from and what it says, asks and
// answers. Two parts with the same id are the same, however they are written.
func hash(m *genai.Message) uint64 {
	var b xxhash.Digest
	b.Reset()
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == genai.TextPart:
			if t := strings.TrimSpace(p.Text); t != "" {
				b.WriteString("\x00t")
				b.WriteString(t)
			}
		case p.Kind == genai.OtherPart:
		case p.CallID != "":
			b.Write([]byte{0, byte('0' + p.Kind)})
			b.WriteString(p.CallID)
			if p.Kind == genai.CallPart { // ids may be used again
				b.WriteString(p.Tool)
			}
		default:
			b.Write([]byte{0, byte('0' + p.Kind)})
			b.WriteString(p.Tool)
			v := p.Content.Value
			if p.Kind == genai.CallPart {
				v, _ = p.Content.Arguments() // as text in an answer, as data in what is shown later
			}
			if text, err := v.AppendCanonical(nil); err == nil {
				b.Write(text)
			}
		}
	}
	b.Write([]byte{byte(roleOf(m))})
	return b.Sum64()
}

// roleOf tells answers to calls apart from what a person says: both may come
// under the role user.
func roleOf(m *genai.Message) genai.Role {
	if m.Role == genai.User || m.Role == genai.ToolRole {
		for i := range m.Parts {
			if m.Parts[i].Kind == genai.ResponsePart {
				return genai.ToolRole
			}
		}
	}
	return m.Role
}

func (h *history) push(it item) {
	h.wake()
	h.at[it.hash] = append(h.at[it.hash], len(h.items))
	h.items = append(h.items, it)
}

// find returns the first position of the message at or after from, or -1.
func (h *history) find(hash uint64, from int) int {
	h.wake()
	positions := h.at[hash]
	if n := sort.SearchInts(positions, from); n < len(positions) {
		return positions[n]
	}
	return -1
}

// afterLast returns the position after the last message of an assistant.
func (h *history) afterLast() int {
	for i := len(h.items) - 1; i >= 0; i-- {
		h.work.spend(1)
		if h.items[i].role == genai.Assistant {
			return i + 1
		}
	}
	return 0
}

// news is what a model's input shows for the first time.
type news struct {
	message *genai.Message
	// prior marks what was said before the session began: its calls are known,
	// nothing else comes of it.
	prior bool
	// first marks the request that opens the session.
	first bool
	// at is the position in the conversation before which it belongs.
	at int
}

// read takes a model's input and returns what is new in it, in order.
//
// What stands up to the last assistant message has been said before; what
// follows it is new unless the session saw it after that very message. An input
// without any assistant message is either the beginning of the conversation
// again, or only what is new.
func (h *history) read(input []genai.Message) []news {
	var out []news
	items := make([]item, 0, len(input))
	messages := make([]*genai.Message, 0, len(input))
	last := -1
	for i := range input {
		m := &input[i]
		role := roleOf(m)
		if role == genai.System || role == genai.UnknownRole {
			continue
		}
		if role == genai.Assistant {
			last = len(items)
		}
		items = append(items, item{hash: hash(m), role: role})
		messages = append(messages, m)
	}
	if len(items) == 0 {
		return nil
	}

	if !h.opened {
		h.opened = true
		first := last < 0
		for i, it := range items {
			h.push(it)
			n := news{message: messages[i], prior: i <= last}
			if first && it.role == genai.User && i > last {
				n.first, first = true, false
			}
			out = append(out, n)
		}
		return out
	}

	if last < 0 && h.begins(items) {
		return nil
	}
	from, matched := h.align(items[:last+1], messages, &out)
	if !matched {
		from = h.afterLast()
	}
	if last < 0 && from > h.begun {
		h.pieces = true
	}
	for i := last + 1; i < len(items); i++ {
		if p := h.find(items[i].hash, from); p >= 0 {
			from = p + 1
			continue
		}
		out = append(out, news{message: messages[i], at: len(h.items)})
	}
	h.add(out)
	return out
}

// begins reports whether an input without any answer is the beginning of the
// trace once more: another model was asked the same, or the same one again. Where
// models are shown only what is new, the same words are said once more.
func (h *history) begins(items []item) bool {
	known := h.items[h.begun:]
	if h.pieces || len(items) > len(known) {
		return false
	}
	for i := range items {
		if items[i].hash != known[i].hash {
			return false
		}
	}
	return true
}

// align follows the part of an input that repeats the conversation, and adds to
// out what it shows between two known messages and was not seen: telemetry of
// an earlier model call is missing. It returns the position in the conversation
// at which the repetition ends.
func (h *history) align(items []item, messages []*genai.Message, out *[]news) (from int, matched bool) {
	unseen := -1 // first of a run of unknown messages after a known one
	for i := range items {
		p := h.find(items[i].hash, from)
		if p < 0 {
			if matched && unseen < 0 {
				unseen = i
			}
			continue
		}
		if !matched && p == 0 && i > 0 && h.items[0].role == genai.Assistant && assistants(items[:i]) == 0 {
			// The question to an answer whose own call did not record it.
			h.missed(items[:i], messages[:i], 0, 0, out)
			(*out)[0].first = items[0].role == genai.User
		}
		if unseen >= 0 {
			h.work.spend(p - from)
			h.missed(items[unseen:i], messages[unseen:i], assistants(h.items[from:p]), p, out)
			unseen = -1
		}
		from, matched = p+1, true
	}
	if unseen >= 0 {
		// An answer that its model call recorded in another form is the answer
		// that was seen.
		h.work.spend(len(h.items) - from)
		rest := assistants(h.items[from:])
		h.missed(items[unseen:], messages[unseen:], rest, len(h.items), out)
		if rest > 0 {
			return h.afterLast(), true
		}
	}
	return from, matched
}

// assistants counts the messages of an assistant.
func assistants(items []item) int {
	n := 0
	for _, it := range items {
		if it.role == genai.Assistant {
			n++
		}
	}
	return n
}

// missed adds unknown messages of a repeated conversation, which belong before
// the one at a position. The first skipped ones of an assistant stand for what
// the session saw in another form.
func (h *history) missed(items []item, messages []*genai.Message, skipped, at int, out *[]news) {
	for i := range items {
		if items[i].role == genai.Assistant && skipped > 0 {
			skipped--
			continue
		}
		*out = append(*out, news{message: messages[i], at: at})
	}
}

// add puts what is new where it belongs.
func (h *history) add(out []news) {
	known := h.items
	if !slices.ContainsFunc(out, func(n news) bool { return n.at < len(known) }) {
		for i := range out {
			h.push(item{hash: hash(out[i].message), role: roleOf(out[i].message)})
		}
		return
	}
	h.work.spend(len(known) + len(out))
	h.items = make([]item, 0, len(known)+len(out))
	for p := 0; p <= len(known); p++ {
		for ; len(out) > 0 && out[0].at == p; out = out[1:] {
			h.items = append(h.items, item{hash: hash(out[0].message), role: roleOf(out[0].message)})
			if p < h.begun {
				h.begun++
			}
		}
		if p < len(known) {
			h.items = append(h.items, known[p])
		}
	}
	h.at = nil
	h.wake()
}

// answered notes what a model answered.
func (h *history) answered(output []genai.Message) {
	h.opened = true
	for i := range output {
		if role := roleOf(&output[i]); role == genai.Assistant || role == genai.ToolRole {
			h.push(item{hash: hash(&output[i]), role: role})
		}
	}
}
