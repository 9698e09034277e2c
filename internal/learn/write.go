// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Options choose what is written.
type Options struct {
	// Tails is how many events ahead two states of a protocol have to agree to be
	// taken for one. Less makes protocols smaller and allows more; negative
	// chooses.
	Tails int
	// Command is what the policy was made by, for its comment.
	Command string
}

// Summary says what was written.
type Summary struct {
	Sessions, Calls      int
	Contracts, Protocols int
	States               int // of all protocols
}

// Write writes the policy as YAML. Everything that is a guess has its reason
// beside it.
func (l *Learner) Write(w io.Writer, o Options) (Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// What a guess leaves open is a warning. It is acknowledged, so it is written
	// twice: to see the warnings, and with the acknowledgements.
	p := &printer{o: o, names: map[string]bool{}}
	s := l.write(p)
	if s.Contracts+s.Protocols == 0 {
		_, err := w.Write(p.b.Bytes()) // comments only, which are no policy
		return s, err
	}
	draft, err := policy.Load("the policy that was made", p.b.Bytes())
	if err != nil {
		return s, fmt.Errorf("the policy that was made is not valid, which is a fault of this program: %w", err)
	}
	p = &printer{o: o, names: map[string]bool{}, open: map[string][]policy.WarningKind{}}
	for _, d := range draft.Review(time.Time{}).Warnings {
		if owner, _, ok := strings.Cut(d.Path, "]"); ok && openReasons[d.Kind] != "" {
			p.open[owner+"]"] = append(p.open[owner+"]"], d.Kind)
		}
	}
	s = l.write(p)
	_, err = w.Write(p.b.Bytes())
	return s, err
}

// write writes the policy.
func (l *Learner) write(p *printer) Summary {
	s := Summary{Sessions: l.sessions, Calls: l.calls}
	o := p.o
	p.comment(0, fmt.Sprintf("A first policy, made by `%s` from %s with %s.", cmp.Or(o.Command, "resultseal init"), number(l.sessions, "recorded session"), number(l.calls, "tool call")))
	p.comment(0, "It is a guess: read it, and put right what recordings cannot tell. What they do counts as right, so they should be good runs.")
	p.line(0, "")
	var without []string
	s.Contracts, without = l.writeContracts(p)
	clear(p.names)
	s.Protocols, s.States = l.writeProtocols(p)
	l.writeAcknowledged(p, &s, without)
	return s
}

// printer writes YAML.
type printer struct {
	o     Options
	b     bytes.Buffer
	names map[string]bool // of contracts, then of protocols

	contracts int                             // that were written
	open      map[string][]policy.WarningKind // to be acknowledged, by the path of a contract
}

// name makes a name that nothing else of its kind has.
func (p *printer) name(text string) string {
	const room = 8
	text = clip(strings.TrimSpace(printable(strings.ToValidUTF8(text, "?"))), maxName-room)
	text = cmp.Or(text, "unnamed")
	unique := text
	for n := 2; p.names[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", text, n)
	}
	p.names[unique] = true
	return unique
}

func (p *printer) line(indent int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		p.b.WriteString(strings.Repeat("  ", indent))
	}
	p.b.WriteString(text + "\n")
}

// comment writes a comment of as many lines as it takes.
func (p *printer) comment(indent int, text string) {
	const width = 100
	line := ""
	for _, word := range strings.Fields(printable(text)) {
		if line != "" && len(line)+1+len(word) > width-2*indent {
			p.line(indent, "# %s", line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	p.line(indent, "# %s", line)
}

// key writes a key, its value and why.
func (p *printer) key(indent int, key, value, why string) {
	if why != "" {
		why = " # " + printable(why)
	}
	p.line(indent, "%s: %s%s", key, value, why)
}

// quote writes a text in quotes. What cannot be seen, or may not stand in YAML,
// is written as a number.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteStep writes a text as a step of a path, where the escapes are JSON's.
func quoteStep(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`
}

// word writes a text plainly where YAML reads nothing else in it.
func word(text string) string {
	if plainName(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return quote(text)
}

func list(texts []string, write func(string) string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = write(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// globOf writes a name as a glob that matches nothing else.
func globOf(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(name)
}

// maxName is what a contract's or a protocol's name may have.
const maxName = 256

// writeContracts writes a contract for each tool whose results tell something, and
// returns how many there are and the tools without one.
func (l *Learner) writeContracts(p *printer) (written int, without []string) {
	var silent []string
	for _, t := range l.sortedTools() {
		g, ok := t.guess()
		if !ok {
			silent = append(silent, t.silence(g))
			without = append(without, t.name)
			continue
		}
		if written == 0 {
			p.line(0, "contracts:")
		} else {
			p.line(0, "")
		}
		written += t.writeContract(p, g)
	}
	if written > 0 && len(silent) > 0 {
		p.line(0, "")
	}
	for _, text := range silent {
		p.comment(1, text)
	}
	if written > 0 || len(silent) > 0 {
		p.line(0, "")
	}
	return written, without
}

// writeAcknowledged acknowledges, at the top level, that some tools have no
// contract: there is nothing to make one of, which a comment says of each.
func (l *Learner) writeAcknowledged(p *printer, s *Summary, without []string) {
	tools := map[policy.WarningKind][]string{}
	for _, name := range without {
		kind := policy.WarnUnjudgedTool
		if s.Protocols > 0 && (!l.several() || l.ordered(name)) {
			kind = policy.WarnUncontractedTool // a protocol is about its calls
		}
		tools[kind] = append(tools[kind], globOf(name))
	}
	if s.Contracts == 0 {
		delete(tools, policy.WarnUncontractedTool) // the policy is about the order only
	}
	if len(tools) == 0 {
		return
	}
	p.line(0, "")
	p.line(0, "acknowledge:")
	for _, kind := range slices.Sorted(maps.Keys(tools)) {
		p.acknowledge(1, kind, "there was no result to make a contract of", ", tools: "+list(tools[kind], quote))
	}
}

// ordered reports whether the order of an agent with a name has calls of a tool.
func (l *Learner) ordered(tool string) bool {
	for agent, o := range l.orders {
		if agent != "" && o.has("!"+policy.DefaultLabel(tool)) {
			return true
		}
	}
	return false
}

// several reports whether protocols are for one agent each.
func (l *Learner) several() bool { return l.mixed || len(l.orders) > 1 }

// acknowledgeContract writes what is left open by the contract that was written
// last.
func (p *printer) acknowledgeContract() {
	open := p.open[fmt.Sprintf("contracts[%d]", p.contracts)]
	p.contracts++
	if len(open) > 0 {
		p.line(2, "acknowledge:")
	}
	for _, kind := range open {
		p.acknowledge(3, kind, openReasons[kind], "")
	}
}

// acknowledge writes an acknowledged warning.
func (p *printer) acknowledge(indent int, kind policy.WarningKind, reason, more string) {
	p.line(indent, "- {kind: %s, reason: %s%s}", kind, quote(reason), more)
}

// silence says why there is no contract for a tool. g is what its contract would
// be, nil if no result tells anything.
func (t *tool) silence(g *guess) string {
	var why []string
	if t.failed > 0 {
		why = append(why, fmt.Sprintf("%d failed", t.failed))
	}
	if t.empty > 0 {
		why = append(why, fmt.Sprintf("%d have a result that says nothing", t.empty))
	}
	if g != nil && g.emptyLists > 0 {
		why = append(why, fmt.Sprintf("%d have a list that is empty", g.emptyLists))
	}
	if t.absent > 0 {
		why = append(why, fmt.Sprintf("%d say in words that differ that there is nothing", t.absent))
	}
	if n := t.calls - t.recorded - t.failed; n > 0 {
		why = append(why, fmt.Sprintf("of %d no result was recorded", n))
	}
	return fmt.Sprintf("%s: %s (%s), so there is nothing to make a contract of", t.name, number(t.calls, "call"), strings.Join(why, ", "))
}

func (t *tool) writeContract(p *printer, g *guess) int {
	p.comment(1, fmt.Sprintf("%s: %s, %d with a result that says something", t.name, number(t.calls, "call"), g.good))
	for _, note := range g.notes {
		p.comment(1, note)
	}
	write := func(name, claim, claimWhy string, required []string, requiredWhy string) {
		p.line(1, "- name: %s", word(p.name(name)))
		p.key(2, "match", "{tools: ["+quote(globOf(t.name))+"]}", "")
		p.key(2, "claim_type", claim, claimWhy)
		p.key(2, "required_fields", list(required, word), requiredWhy)
		p.key(2, "freshness", "{mode: not_required}", "")
		p.key(2, "source_ref", quote(g.source), g.sourceWhy)
		p.key(2, "target_ref", quote(g.target), g.targetWhy)
	}
	observation := func(payload bool) {
		if g.observedSource == "" && g.observedTarget == "" && len(g.evidence) == 0 && !(payload && g.payload != "") {
			return
		}
		p.line(2, "observation:")
		if payload && g.payload != "" {
			p.key(3, "payload", quote(g.payload), g.payloadWhy)
		}
		if g.observedSource != "" {
			p.key(3, "source_ref", quote(g.observedSource), "")
		}
		if g.observedTarget != "" {
			p.key(3, "target_ref", quote(g.observedTarget), "")
		}
		if len(g.evidence) > 0 {
			p.key(3, "evidence_refs", list(g.evidence, quote), "")
		}
	}
	written := 0
	if g.good > 0 {
		written++
		write(t.name, string(g.claim), g.claimWhy, g.required, g.requiredWhy)
		if g.evidenceWhy != "" {
			p.key(2, "effect_evidence_required", fmt.Sprint(len(g.evidence) > 0), g.evidenceWhy)
		}
		observation(true)
		p.acknowledgeContract()
	}
	if g.sentinel != "" {
		written++
		g.observedSource, g.observedTarget, g.evidence = "", "", nil // such a result names nothing
		write(t.name+"-not-found", "not_found", "beside the one above: the first that seals counts", nil, "")
		p.key(2, "not_found_sentinel", quote(g.sentinel), g.sentinelWhy)
		p.acknowledgeContract()
	}
	return written
}

// openReasons are the reasons for which warnings about a contract are
// acknowledged.
var openReasons = map[policy.WarningKind]string{
	policy.WarnNoRequiredFields: "the recorded results have no field in common",
	policy.WarnUncheckedTarget:  "the recorded results do not name their target",
	policy.WarnUncheckedSource:  "the recorded results do not name their source",
}

// printable is a text without anything that ends a comment.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r < 0xA0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' {
			return ' '
		}
		return r
	}, text)
}

func clip(s string, runes int) string {
	for i := range s {
		if runes == 0 {
			return s[:i]
		}
		runes--
	}
	return s
}

// maxProtocols is how many agents get a protocol of their own.
const maxProtocols = 16

func (l *Learner) writeProtocols(p *printer) (protocols, states int) {
	agents := slices.SortedFunc(maps.Keys(l.orders), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.orders[b].runs, l.orders[a].runs), cmp.Compare(a, b))
	})
	several := l.several()
	if several {
		// What belongs to no agent cannot be told apart.
		agents = slices.DeleteFunc(agents, func(a string) bool { return a == "" })
	}
	if len(agents) == 0 {
		p.comment(0, "No session that was recorded completely shows any call or message, so there is no protocol.")
		return 0, 0
	}
	p.line(0, "protocols:")
	if l.partial > 0 {
		p.comment(1, fmt.Sprintf("%s without all spans; their order was not learned from.", number(l.partial, "session")))
	}
	if l.spread {
		p.comment(1, "Conversations go on over several traces. These protocols follow each trace by itself; \"session: conversation\" follows the whole.")
	}
	for i, agent := range agents {
		if i == maxProtocols {
			p.comment(1, fmt.Sprintf("%s have no protocol here.", number(len(agents)-i, "other agent")))
			break
		}
		if i > 0 {
			p.line(0, "")
		}
		protocols++
		states += l.writeProtocol(p, agent, several)
	}
	return protocols, states
}

func (l *Learner) writeProtocol(p *printer, agent string, several bool) int {
	o := l.orders[agent]
	a := o.automaton(p.o.Tails)
	label := labels(o)
	name := "order-of-calls"
	if several {
		name = "order-of-calls-of-" + agent
	}
	same := fmt.Sprintf("the next %s after them can be the same", number(a.tails, "event"))
	if a.tails == 0 {
		same = "sessions end at both or at neither"
	}
	p.comment(1, fmt.Sprintf("The order in %s, in %s. Two states are one if %s, and events in a row count as one or more if they were seen so.",
		number(o.runs, "session"), number(len(a.states), "state"), same))
	if a.tails == 0 {
		p.comment(1, "The runs differ too much for an order that can be read: it says little more than which tools there are.")
	}
	if o.full {
		p.comment(1, "There were more runs than could be kept; the later ones may not be allowed.")
	}
	p.line(1, "- name: %s", word(p.name(name)))
	if several {
		p.key(2, "match", "{agents: ["+quote(globOf(agent))+"]}", "")
	}
	p.key(2, "after_end", "violation", "nothing was seen to go on there")
	p.line(2, "states:")
	p.key(3, "initial", quote(a.states[0].name), "")
	var terminal []string
	for i := range a.states {
		if a.states[i].ends > 0 {
			terminal = append(terminal, a.states[i].name)
		}
	}
	p.key(3, "terminal", list(terminal, quote), "where sessions ended")
	p.line(3, "transitions:")
	for i := range a.states {
		s := &a.states[i]
		for _, e := range s.edges {
			why := fmt.Sprintf("%d of %d", e.runs, s.runs)
			if e.runs == 0 {
				why = "once or several times in a row"
			}
			p.line(4, "- {from: %s, event: %s, to: %s} # %s", quote(s.name), quote(label(e.event)), quote(a.states[e.to].name), why)
		}
		if s.ends > 0 {
			p.comment(4, fmt.Sprintf("%d of %d ended at %q", s.ends, s.runs, s.name))
		}
	}
	if len(a.states) == 1 && len(a.states[0].edges) == 0 {
		p.b.Truncate(p.b.Len() - len("        transitions:\n"))
		p.line(3, "transitions: []")
	}
	p.line(2, "events:")
	only := ""
	if several {
		only = ", agents: [" + quote(globOf(agent)) + "]"
	}
	p.line(3, "- {label: \"{tool.name}\", event: tool_call%s} # a tool that was never seen is a violation", only)
	if o.has(userMessage) {
		p.line(3, "- {label: %s, event: user_message, turn: later%s} # whatever it says: narrow it with text", strings.TrimLeft(label(userMessage), "?"), only)
	}
	if o.has(agentMessage) {
		p.line(3, "- {label: %s, event: agent_message%s}", strings.TrimLeft(label(agentMessage), "!"), only)
	}
	return len(a.states)
}

// has reports whether an event was seen.
func (o *order) has(event string) bool {
	return slices.ContainsFunc(o.nodes, func(n prefix) bool { return n.event == event })
}

// labels returns what events are called: tools by their labels, and messages by
// names that no tool has.
func labels(o *order) func(string) string {
	names := map[string]string{userMessage: "?UserMessage", agentMessage: "!AgentMessage"}
	for o.has(names[agentMessage]) {
		names[agentMessage] += "_"
	}
	return func(event string) string {
		if name, ok := names[event]; ok {
			return name
		}
		return event
	}
}
