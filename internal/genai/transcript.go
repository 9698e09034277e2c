// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// transcript reads messages that are written as one text.
func (d *Decoder) transcript(r *row, dialect *Dialect) Messages {
	for i := range r.transcript {
		if text := d.text(r.transcript[i]); text != "" {
			return r.Transcript[i].read(text, dialect)
		}
	}
	return Messages{}
}

// read splits a transcript into its messages. A part that begins like no section
// belongs to the message before it: the separator may be part of a message's own
// text. Two answers to one call contradict each other, and a tool can write the
// beginning of a section into its result, so neither counts as captured.
func (t *Transcript) read(text string, d *Dialect) Messages {
	m := Messages{Recorded: true}
	text, cut := trimCut(text)
	var bodies []string
	for _, part := range strings.Split(text, t.Separator) {
		role, id, rest, ok := t.section(part)
		if !ok {
			if n := len(bodies); n > 0 {
				bodies[n-1] += t.Separator + part
			} else {
				m.Broken = true
			}
			continue
		}
		message := Message{Role: role}
		if role == ToolRole {
			message.Parts = []Part{{Kind: ResponsePart, CallID: UsableID(id)}}
		}
		m.List, bodies = append(m.List, message), append(bodies, rest)
	}
	answers := map[string]int{}
	for i := range m.List {
		if m.List[i].Role == ToolRole {
			answers[m.List[i].Parts[0].CallID]++
		}
	}
	for i := range m.List {
		message := &m.List[i]
		switch {
		case message.Role != ToolRole:
			message.Parts, message.Uncaptured = []Part{{Kind: TextPart, Text: bodies[i]}}, placeholder(bodies[i], d)
		case answers[message.Parts[0].CallID] > 1:
		case cut && i == len(m.List)-1:
			message.Parts[0].Content = Content{Dropped: true}
		default:
			message.Parts[0].Content = contentOfText(bodies[i], d)
		}
	}
	return m
}

// section returns whose message a part is and what it says.
func (t *Transcript) section(part string) (role Role, id, body string, ok bool) {
	for _, s := range t.Sections {
		pre, post, star := strings.Cut(s.Begins, "*")
		rest, ok := strings.CutPrefix(part, pre)
		if !ok {
			continue
		}
		if star {
			end := strings.Index(rest, post)
			if end < 0 {
				continue
			}
			id, rest = rest[:end], rest[end+len(post):]
		}
		return s.Role, id, rest, true
	}
	return UnknownRole, "", "", false
}

// EditAnswers replaces the answers of tools in a transcript. What follows one and
// begins like no section belongs to it.
func (t *Transcript) EditAnswers(text string, edit func(answer string) string) string {
	type part struct {
		text   string
		answer int // where the answer begins, -1 for none
	}
	var parts []part
	for _, p := range strings.Split(text, t.Separator) {
		role, _, body, ok := t.section(p)
		n := len(parts)
		switch {
		case !ok && n > 0:
			parts[n-1].text += t.Separator + p
		case ok && role == ToolRole:
			parts = append(parts, part{p, len(p) - len(body)})
		default:
			parts = append(parts, part{p, -1})
		}
	}
	out := make([]string, len(parts))
	for i, p := range parts {
		if out[i] = p.text; p.answer >= 0 {
			out[i] = p.text[:p.answer] + edit(p.text[p.answer:])
		}
	}
	return strings.Join(out, t.Separator)
}
