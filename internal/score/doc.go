// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package score judges one session: the facts of its spans and a compiled
// policy in, a verdict out. It is a pure function, and the only place where
// sealing and monitoring meet; the processor and the command line both call it,
// so they cannot disagree.
//
// Reading order: score.go is the whole of it on one page. trace.go puts the
// spans in order and notes what may be missing. calls.go joins tool spans to
// calls, ask.go what messages say of them; ids.go tells which ids to trust,
// likeness.go which arguments are the same. settle.go decides what each call came
// to, differ.go whether a model was shown something else, dispatch.go whether it
// certainly never ran. models.go chooses whose messages count, history.go tells
// what an input shows for the first time; facts.go and order.go make a list of
// what happened. seal.go holds a call against its contracts; project.go and
// protocol.go turn facts into a protocol's events and step its monitor.
// conversation.go does so over several traces, late.go and provisional.go for
// spans that come too late or too early, and explain.go tells how it went.
//
// Facts are ordered by the time that spans carry, never by arrival. The scripts
// in testdata show what comes of what.
package score
