// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package score judges one session: the facts of its spans and a compiled
// policy in, a verdict out. It is a pure function, and the only place where
// sealing and monitoring meet; the processor and the command line both call it,
// so they cannot disagree.
//
// Reading order: score.go is the whole of it on one page. trace.go puts the
// spans in order and notes what may be missing; calls.go joins everything that
// shows a tool call to one call; history.go tells what a model's input shows
// for the first time; facts.go makes a list of what happened; seal.go holds a
// call against its contracts; project.go and protocol.go turn facts into a
// protocol's events and step its monitor.
//
// Facts are ordered by the time that spans carry, never by arrival.
package score
