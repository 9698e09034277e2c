// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// protocols reads the list of protocols.
func (l *loader) protocols(a at, contracts []*Contract) []*Protocol {
	if isNull(a.node) {
		return nil
	}
	entries, ok := l.list(a, "a list of protocols")
	if !ok {
		return nil
	}
	var ps []*Protocol
	taken := names{}
	for _, e := range entries {
		m, ok := l.mapping(
			e, withMetadata(
				"name", "match", "session", "protocol", "states",
				"parallel_calls", "unmatched", "after_end", "require_completion", "assume_complete",
				"events",
			)...,
		)
		if ok {
			p := l.protocol(m, taken, contracts)
			p.Index = len(ps)
			ps = append(ps, p)
		}
	}
	return ps
}

// protocol reads one protocol.
func (l *loader) protocol(m *mapping, taken names, contracts []*Contract) *Protocol {
	l.require(m, "name")
	p := &Protocol{
		Name:     l.name(m, taken),
		Metadata: l.metadata(m),
		Match:    l.match(m, "agents", "services"),
	}
	choose(l, m, "session", sessionNames, &p.Session)
	choose(l, m, "parallel_calls", parallelNames, &p.ParallelCalls)
	choose(l, m, "unmatched", unmatchedNames, &p.Unmatched)
	choose(l, m, "after_end", afterEndNames, &p.AfterEnd)
	l.flag(m, "require_completion", &p.RequireCompletion)
	l.flag(m, "assume_complete", &p.AssumeComplete)

	text, written := m.get("protocol")
	states, drawn := m.get("states")
	switch {
	case written && drawn:
		l.errorf(m.key("states"), "a protocol is either written (protocol) or drawn (states), not both")
	case written:
		l.written(text, p)
	case drawn:
		p.Automaton = l.drawn(states)
	default:
		l.require(m, "protocol")
	}
	l.refuseIdle(m, p)
	l.events(m, p, contracts)
	return p
}

// refuseIdle reports a protocol that can judge nothing: it has finished before
// the first event, and ignores what comes after.
func (l *loader) refuseIdle(m *mapping, p *Protocol) {
	if p.Automaton == nil || p.AfterEnd != AfterEndIgnore || len(p.Automaton.Events()) > 0 || !p.Automaton.Shape().States[0].Terminal {
		return
	}
	key := "protocol"
	if p.Source == "" {
		key = "states"
	}
	l.errorf(m.key(key), "the protocol has no transitions and after_end is ignore, so it judges nothing; with after_end: violation, every event is a violation")
}

// written compiles a protocol in the protocol language.
func (l *loader) written(a at, p *Protocol) {
	a, ok := l.text(a)
	if !ok {
		return
	}
	p.Source = a.node.Value
	tree, err := session.Parse(p.Source)
	var warnings []session.Warning
	if err == nil {
		p.Automaton, warnings, err = session.Compile(tree)
	}
	if err != nil {
		l.protocolError(a, err)
		return
	}
	for _, w := range warnings {
		l.protocolWarning(a, w)
	}
}

// protocolError reports an error of the protocol language at its place in the
// file, or, where the way in which the text is written hides that, at the start
// of the text and with an excerpt of its own.
func (l *loader) protocolError(a at, err error) {
	var bad *session.Error
	if !errors.As(err, &bad) {
		l.errorf(a, "%s", err)
		return
	}
	line, column, exact := l.src.locate(a.node, bad.Offset)
	message := fmt.Sprintf("expected %s, found %s", bad.Expected, bad.Found)
	if !exact {
		message = within(bad.Line, bad.Column, message, bad.Excerpt())
	}
	l.report("", line, column, a.path, message)
}

// protocolWarning reports a warning of the protocol language in the same way.
func (l *loader) protocolWarning(a at, w session.Warning) {
	line, column, exact := l.src.locate(a.node, w.Offset)
	message := w.Message
	if !exact {
		message = within(w.Line, w.Column, message, w.Excerpt())
	}
	l.report(ofProtocolLanguage[w.Code], line, column, a.path, message)
}

// within adds the place inside of a text to a message about it.
func within(line, column int, message, excerpt string) string {
	return fmt.Sprintf("at %d:%d of the text: %s\n    %s", line, column, message, strings.ReplaceAll(excerpt, "\n", "\n    "))
}

// drawn compiles a protocol that is given as a state machine; nil if it is
// wrong, which is reported.
func (l *loader) drawn(a at) *session.Automaton {
	before := l.failures
	m, ok := l.mapping(a, "initial", "terminal", "transitions")
	if !ok {
		return nil
	}
	var sm session.StateMachine
	places := map[string]at{} // of the keys, by the names that errors give
	read := func(m *mapping, key string, place string) string {
		a, ok := m.get(key)
		if !ok {
			return ""
		}
		a, ok = l.text(a)
		if !ok {
			return ""
		}
		places[place] = a
		return a.node.Value
	}
	l.require(m, "initial", "terminal", "transitions")
	sm.Initial = read(m, "initial", machinePlace(-1, "initial"))
	if a, ok := m.get("terminal"); ok {
		entries, _ := l.list(a, "a list of states")
		for i, e := range entries {
			if e, ok := l.text(e); ok {
				places[machinePlace(i, "terminal")] = e
				sm.Terminal = append(sm.Terminal, e.node.Value)
			}
		}
	}
	if a, ok := m.get("transitions"); ok {
		entries, _ := l.list(a, "a list of transitions")
		for i, e := range entries {
			m, ok := l.mapping(e, "from", "event", "to", "when", "bind")
			if !ok {
				continue
			}
			l.require(m, "from", "event", "to")
			sm.Transitions = append(sm.Transitions, session.Transition{
				From:  read(m, "from", machinePlace(i, "from")),
				Event: read(m, "event", machinePlace(i, "event")),
				To:    read(m, "to", machinePlace(i, "to")),
				When:  read(m, "when", machinePlace(i, "when")),
				Bind:  read(m, "bind", machinePlace(i, "bind")),
			})
		}
	}
	if l.failures > before || l.stopped {
		return nil
	}
	place := func(index int, field string) at {
		if a, ok := places[machinePlace(index, field)]; ok {
			return a
		}
		return m.at
	}
	automaton, warnings, err := session.CompileStates(sm)
	if err != nil {
		a := m.at
		var bad *session.Error
		if errors.As(err, &bad) {
			a = place(bad.Index, bad.Field)
		}
		l.protocolError(a, err)
		return nil
	}
	for _, w := range warnings {
		l.protocolWarning(place(w.Index, w.Field), w)
	}
	return automaton
}

// machinePlace names a key of a state machine as the errors about it do.
func machinePlace(index int, field string) string { return fmt.Sprint(field, index) }
