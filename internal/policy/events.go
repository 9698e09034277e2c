// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

var decisionNames = []string{string(engine.Sealed), string(engine.Blocked)}

var truthStateNames = []string{
	string(engine.StateObserved), string(engine.StateComplete), string(engine.StateEmpty), string(engine.StateNotFound),
	string(engine.StatePartial), string(engine.StateStale), string(engine.StateSourceMismatch),
	string(engine.StateUnverifiedEffect), string(engine.StateParseError), string(engine.StateUnknown),
	string(engine.StateSealed),
}

var directionNames = []string{"send", "receive"}

var atNames = []string{"start", "end"}

// ruleKeys are the keys of an event rule. kinds are the events that a key
// narrows; nil is all of them.
var ruleKeys = []struct {
	key   string
	kinds []EventKind
}{
	{"label", nil},
	{"event", nil},
	{"direction", nil},
	{"tools", []EventKind{ToolCall, ToolResult}},
	{"agents", nil},
	{"services", nil},
	{"text", []EventKind{UserMessage, AgentMessage}},
	{"turn", []EventKind{UserMessage}},
	{"decision", []EventKind{ToolResult}},
	{"truth_state", []EventKind{ToolResult}},
	{"contract", []EventKind{ToolResult}},
	{"arguments", []EventKind{ToolCall, ToolResult}},
	{"result", []EventKind{ToolResult}},
	{"tool_calls", []EventKind{AgentMessage}},
	{"name", []EventKind{SpanEvent}},
	{"attributes", []EventKind{SpanEvent}},
	{"at", []EventKind{SpanEvent}},
}

// labelRoots are the roots that the label of an event may read: what is known
// when the event happens.
var labelRoots = [...]Roots{
	ToolCall:     everywhere | rootSet(RootArguments, RootToolName, RootToolCallID),
	ToolResult:   everywhere | rootSet(RootArguments, RootResult, RootToolName, RootToolCallID),
	UserMessage:  everywhere,
	AgentMessage: everywhere,
	SpanEvent:    everywhere,
}

var everywhere = rootSet(RootAttributes, RootResource, RootAgentName, RootConversationID, RootSpanName, RootSpanID, RootTraceID)

// ruleAt is a rule that was read, and where.
type ruleAt struct {
	*EventRule
	at at // its label
}

// events reads the projection of a protocol.
func (l *loader) events(m *mapping, p *Protocol, contracts []*Contract) {
	a, ok := m.get("events")
	if !ok {
		return
	}
	before := l.failures
	entries, ok := l.list(a, "a list of event rules")
	if !ok {
		return
	}
	known := make([]string, len(ruleKeys))
	for i, k := range ruleKeys {
		known[i] = k.key
	}
	var rules []ruleAt
	for _, e := range entries {
		rule, ok := l.mapping(e, known...)
		if !ok {
			continue
		}
		if r, ok := l.eventRule(rule, contracts); ok {
			label, _ := rule.get("label")
			rules = append(rules, ruleAt{r, label})
			p.Events = append(p.Events, r)
		}
	}
	if p.Automaton == nil || l.stopped {
		return
	}
	reads := readsOf(p.Automaton)
	l.refusePayloads(reads, rules)
	for _, r := range p.Events {
		if label, ok := r.Label.Literal(); ok {
			r.Symbol = p.Automaton.Symbol(r.Direction, label)
		}
	}
	if l.failures == before && len(rules) > 0 {
		l.adviseEvents(m.key("events"), p, rules, contracts)
		l.advisePayloads(reads, rules)
	}
}

// reading is an event of a protocol whose payload a guard or a binding reads.
type reading struct {
	event  session.Event
	clause string // as the protocol language writes it
	fields []string
}

// readsOf returns the events of a protocol whose payload is read, once for each
// way in which it is.
func readsOf(a *session.Automaton) []reading {
	if !a.ReadsPayloads() {
		return nil
	}
	events := map[string]session.Event{}
	for _, e := range a.Events() {
		events[e.String()] = e
	}
	var reads []reading
	seen := map[string]bool{}
	for _, e := range a.Shape().Edges {
		clause := e.Guards
		if clause != "" && e.Bindings != "" {
			clause += ", "
		}
		clause += e.Bindings
		if clause != "" && !seen[e.Event+clause] {
			seen[e.Event+clause] = true
			reads = append(reads, reading{events[e.Event], clause, e.Fields})
		}
	}
	return reads
}

// refusePayloads reports span rules that name an event whose payload the protocol
// reads: a span event has none, so nothing is ever bound and no guard holds.
func (l *loader) refusePayloads(reads []reading, rules []ruleAt) {
	for _, r := range rules {
		if r.Event != SpanEvent {
			continue
		}
		for _, read := range reads {
			if !r.names(read.event) && !(mayName(r.EventRule, read.event) && onlySpans(rules, read.event)) {
				continue
			}
			l.errorf(r.at, "payload: is missing: the protocol reads (%s) of %s, and a span event has no payload; payload: is not supported yet, so the protocol must read nothing of this event",
				read.clause, read.event)
			break
		}
	}
}

// names reports whether a rule with a literal label gives an event.
func (r *EventRule) names(e session.Event) bool {
	label, ok := r.Label.Literal()
	return ok && r.Direction == e.Direction && label == e.Label
}

// onlySpans reports whether no rule but those about spans may give an event.
func onlySpans(rules []ruleAt, e session.Event) bool {
	return !slices.ContainsFunc(rules, func(r ruleAt) bool { return r.Event != SpanEvent && mayName(r.EventRule, e) })
}

// eventRule reads one rule; false if it has no label or no event, without which
// nothing else about it can be said.
func (l *loader) eventRule(m *mapping, contracts []*Contract) (*EventRule, bool) {
	r := &EventRule{Symbol: session.NoSymbol}
	l.require(m, "label", "event")
	kind, ok := m.get("event")
	if !ok {
		return nil, false
	}
	i, ok := l.choice(kind, eventNames)
	if !ok {
		return nil, false
	}
	r.Event = EventKind(i)
	r.Direction = r.Event.Direction()
	l.refuseKeys(m, r.Event)

	choose(l, m, "direction", directionNames, &r.Direction)
	r.Tools = l.globs(m, "tools")
	r.Agents = l.globs(m, "agents")
	r.Services = l.globs(m, "services")
	if a, ok := m.get("text"); ok {
		r.Text, _ = pattern(l, a, parseExpression)
	}
	choose(l, m, "turn", turnNames, &r.Turn)
	if a, ok := m.get("decision"); ok {
		if i, ok := l.choice(a, decisionNames); ok {
			r.Decision = engine.Decision(decisionNames[i])
		}
	}
	if a, ok := m.get("truth_state"); ok {
		if i, ok := l.choice(a, truthStateNames); ok {
			r.TruthState = engine.TruthState(truthStateNames[i])
		}
	}
	r.Contract = l.contractName(m, contracts)
	r.Arguments = l.fieldGlobs(m, "arguments")
	r.Result = l.fieldGlobs(m, "result")
	choose(l, m, "tool_calls", toolCallsNames, &r.ToolCalls)
	if a, ok := m.get("name"); ok {
		if g, ok := pattern(l, a, ParseGlob); ok {
			r.SpanName = Globs{g}
		}
	}
	r.Attributes = l.attributeGlobs(m)
	var place uint8
	choose(l, m, "at", atNames, &place)
	r.AtEnd = place == 1

	r.Label, ok = l.label(m, r.Event)
	return r, ok
}

// refuseKeys reports keys that mean nothing for the kind of event.
func (l *loader) refuseKeys(m *mapping, kind EventKind) {
	for _, k := range ruleKeys {
		if k.kinds == nil || slices.Contains(k.kinds, kind) {
			continue
		}
		if _, ok := m.get(k.key); ok {
			of := make([]string, len(k.kinds))
			for i, kind := range k.kinds {
				of[i] = kind.String()
			}
			l.errorf(m.key(k.key), "%s narrows %s events and means nothing for %s", k.key, orList(of), kind)
		}
	}
}

// label reads the label of a rule.
func (l *loader) label(m *mapping, kind EventKind) (*Template, bool) {
	a, ok := m.get("label")
	if !ok {
		return nil, false
	}
	t, ok := pattern(l, a, ParseTemplate)
	if !ok {
		return nil, false
	}
	a, _ = l.resolve(a)
	if label, ok := t.Literal(); ok {
		if !validLabel(label) {
			l.errorf(a, "%q is no label; letters, digits, _ and -, and : between them; nearest is %q", clip(label), clip(DefaultLabel(label)))
			return nil, false
		}
		return t, true
	}
	for root := range Root(len(rootNames)) {
		if t.Roots().Has(root) && !labelRoots[kind].Has(root) {
			l.errorf(a, "%s is not known to %s events", root, kind)
			return nil, false
		}
	}
	for _, p := range t.parts {
		if i := strings.IndexFunc(p.literal, func(r rune) bool { return !labelRune(r) && r != ':' }); i >= 0 {
			l.errorf(a, "a label cannot hold %s; letters, digits, _ and -, and : between them", found(p.literal, i))
			return nil, false
		}
	}
	return t, true
}

// contractName reads the name of a contract that the policy has.
func (l *loader) contractName(m *mapping, contracts []*Contract) string {
	a, ok := m.get("contract")
	if !ok {
		return ""
	}
	a, ok = l.text(a)
	if !ok {
		return ""
	}
	var known []string
	for _, c := range contracts {
		if c.Name == a.node.Value {
			return c.Name
		}
		if c.Name != "" {
			known = append(known, c.Name)
		}
	}
	message := fmt.Sprintf("no contract is named %q", clip(a.node.Value))
	if n, ok := nearest(known, a.node.Value); ok {
		message += fmt.Sprintf("; did you mean %q?", n)
	}
	l.errorf(a, "%s", message)
	return ""
}

// parseExpression compiles a regular expression.
func parseExpression(text string) (*regexp.Regexp, error) {
	if len(text) > maxPatternLength {
		return nil, &syntaxError{maxPatternLength, "regular expression is longer than 4,096 bytes"}
	}
	re, err := regexp.Compile(text)
	if err == nil {
		groups := map[string]bool{}
		for _, name := range re.SubexpNames() {
			if name != "" && groups[name] {
				return nil, &syntaxError{0, fmt.Sprintf("bad regular expression: two groups are named %q, and a payload has one", name)}
			}
			groups[name] = true
		}
		return re, nil
	}
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return nil, &syntaxError{0, "bad regular expression: " + err.Error()}
	}
	// The error quotes what is wrong. Where that stands once, it is the place.
	offset := 0
	if bad.Expr != "" && strings.Count(text, bad.Expr) == 1 {
		offset = strings.Index(text, bad.Expr)
	}
	return nil, &syntaxError{offset, fmt.Sprintf("bad regular expression: %s: %q", bad.Code, clip(bad.Expr))}
}

// fieldGlobs reads an optional map of path to glob.
func (l *loader) fieldGlobs(m *mapping, key string) []FieldGlob {
	var fs []FieldGlob
	for _, f := range l.conditions(m, key) {
		p, err := parseFieldPath(f.key.Value)
		if err != nil {
			l.textError(at{f.key, f.value.path}, err)
			continue
		}
		l.advisePath(at{f.key, f.value.path}, p)
		if g, ok := pattern(l, f.value, ParseGlob); ok {
			fs = append(fs, FieldGlob{Path: p, Glob: g})
		}
	}
	slices.SortFunc(fs, func(a, b FieldGlob) int { return cmp.Compare(a.Path.text, b.Path.text) })
	return fs
}

// attributeGlobs reads an optional map of attribute name to glob.
func (l *loader) attributeGlobs(m *mapping) []AttributeGlob {
	var as []AttributeGlob
	for _, f := range l.conditions(m, "attributes") {
		if f.key.Value == "" {
			l.errorf(at{f.key, f.value.path}, "the attribute's name is empty")
			continue
		}
		if g, ok := pattern(l, f.value, ParseGlob); ok {
			as = append(as, AttributeGlob{Name: f.key.Value, Glob: g})
		}
	}
	slices.SortFunc(as, func(a, b AttributeGlob) int { return cmp.Compare(a.Name, b.Name) })
	return as
}

// conditions reads an optional mapping whose keys are free.
func (l *loader) conditions(m *mapping, key string) []field {
	a, ok := m.get(key)
	if !ok {
		return nil
	}
	mm, ok := l.mapping(a)
	if !ok {
		return nil
	}
	if len(mm.fields) == 0 {
		l.errorf(a, "an empty mapping asks for nothing; leave the key out")
	}
	for i := range mm.fields {
		if key := mm.fields[i].key.Value; key == "" || clip(key) != key || strings.ContainsAny(key, `.[]"$ `) {
			mm.fields[i].value.path = fmt.Sprintf("%s[%q]", mm.path, clip(key))
		}
	}
	return mm.fields
}
