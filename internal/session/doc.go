// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package session says in which order an agent may act, and follows it.
//
// A protocol is a session type: it lists, for every moment of a session, the
// events that may come next. Parse reads one, Compile turns it into an
// Automaton, and a Monitor follows one session along it, an event at a time:
//
//	p, err := session.Parse("!Search.?Results.!Present.?Approval.!Book.?Confirmation.end")
//	…
//	a, warnings, err := session.Compile(p)
//	…
//	m := a.NewMonitor()
//	m.Send("Search", nil)     // ok
//	m.Receive("Results", nil) // ok
//	m.Send("Book", nil)       // violation: expected !Present
//	m.Send("Present", nil)    // blocked
//
// Protocols and monitors know nothing of spans, policies or clocks: who makes
// events of what happened decides what a label means.
//
// # The language
//
//	protocol ::= atom ('.' protocol)?
//	atom     ::= '!' step | '?' step | 'rec' IDENT '.' protocol | 'end' | IDENT
//	step     ::= '{' branch (',' branch)* '}' | LABEL clause?
//	branch   ::= LABEL clause? ('.' protocol)?
//	clause   ::= '(' item (',' item)* ')'
//	item     ::= FIELD 'as' REG | FIELD ('==' | '!=') (REG | literal)
//	literal  ::= JSON string (single quotes too) | JSON number | true | false | null
//
// "!" is an event that the agent sends: it calls a tool, it answers its user.
// "?" is one that it receives: a result, a message. Braces are a choice of
// events in one direction, each with what follows it. A dot puts things in
// sequence. "rec X" begins a loop and "X" goes back to where it began. "end" is
// where a session is over; it may be left out.
//
//	!a.?b              send a, then receive b
//	!{a, b.?c}.!d      send a or b; after b receive c; then send d
//	rec X.!a.?{more.X, stop}
//
// An IDENT is made of Unicode letters and numbers (categories L and N), "_" and
// "-". A LABEL may also hold colons between such names: ToolUse:search. FIELD
// and REG begin with a letter or "_". White space is space, tab, CR and LF, and
// may stand between any two tokens. "end" and "rec" are good labels, and no
// variables; "true", "false" and "null" are good fields, and no registers.
//
// What follows a choice belongs to the branches that leave it. A branch without
// a body leaves at once. A branch that loops back jumps, and one that ends in
// "end" is over, whatever stands behind the choice:
//
//	rec Loop.!Ask.?{Yes, No.end, Again.Loop}.!Book
//
// books after Yes, is over after No, and asks again after Again. The body of a
// loop reaches as far as it can, so nothing stands behind a loop.
//
// A label may stand once in a choice, with or without a clause: what comes next
// never depends on more than direction, label and state.
//
// # Clauses
//
// A clause looks at the payload of an event, of which it sees the top-level keys.
// "path as p" binds the field path to the register p; "path == p" and
// "path != p" are guards that compare a field with a register or with a literal.
//
//	rec L.!{read(path as p).L, write(path == p, mode != "append").L, stop}
//
// Guards see the registers as they were before the event. All of them must hold;
// then the bindings are made, and replace what the registers held. A clause may
// bind a register once.
// Registers last as long as the session. A field that is absent binds nothing
// and leaves the register as it was. A guard over an absent field or a register
// that nothing was bound to does not hold, whether it says == or !=. A null that
// is present is a value. Two values are equal as JSON with types kept apart:
// 1 == 1.0, 1 is not "1", true is not 1, integers are exact at any size, arrays
// and objects are compared deeply, and text is not normalised. See Value.
//
// # What is wrong, and what is doubtful
//
// Errors have a code, a byte offset, a line and a column, what was expected and
// what was found; Detail shows the line with a caret. Besides the grammar these
// are errors: a variable that no enclosing rec binds; a loop that comes back to
// its start without an event (rec X.X); anything that could happen behind a
// variable (X.!a) or behind an end (end.!a), which nothing would come to; and
// nesting deeper than a thousand levels. An "end" behind a variable, or behind a
// choice of which no branch leaves, is harmless and allowed.
//
// Warnings are about what is legal and probably not meant: a rec that hides
// another of the same name, or that nothing loops back to; a continuation behind
// a choice of which no branch leaves; a register that is compared and never
// bound; and a place from which the protocol can never stop. Agents that serve
// for ever have such protocols, and whoever asks for completed sessions should
// not.
//
// # The automaton
//
// Compile makes one state for each position between events. What follows a
// choice is compiled once and shared by its branches, so k two-way choices in a
// row are k+1 states. A loop comes back to its own state. A state is terminal
// where the protocol may stop. States are numbered along sorted edges, so that
// an automaton, and its Hash, depends on what a protocol means and not on how it
// is spelled.
//
// A StateMachine is the same thing as data, for protocols that are drawn rather
// than written: states with names, and transitions. CompileStates makes the same
// automaton of it. Two transitions of one state with the same event are an
// error; a state that nothing comes to, or from which no terminal state can be
// reached, is a warning. Unlike a written protocol it may have terminal states
// that are left again.
//
// DOT and Mermaid draw an automaton.
//
// # The monitor
//
// Send, Receive and Step commit an event; Peek answers the same and changes
// nothing.
//
//	ok            the event is legal here and its guards hold: the monitor moves on
//	violation     it is not legal here (label), or a guard fails (guard): the monitor halts
//	unrecognized  it is the sentinel Unrecognized, and no edge waits for that: nothing changes
//	blocked       it comes after a violation: nothing changes
//
// An outcome carries the sorted set of what was legal before the event. The
// sentinel is the label of an event that was seen and could not be named, such as
// a message that is neither a yes nor a no; a protocol may wait for it like for
// any other, and then it is followed.
//
// A monitor is a state number and a flag, and registers once something is bound;
// 48 bytes until then. A step that binds nothing new allocates nothing. Where the
// same events come again and again, StepSymbol saves the lookup of the label.
// WithTrace keeps the last attempts within bounds of count and bytes, and of
// their payloads what the protocol reads; a whole trace can be stepped again
// with Replay. Snapshot and Restore take a monitor to JSON and back, and notice
// that the protocol has changed in between.
//
// # What was not seen
//
// Telemetry has gaps. Explains answers whether events could be part of a legal
// run if others, of kinds that are known to be missing, happened unseen in
// between. Only what it cannot explain is certainly a violation.
package session
