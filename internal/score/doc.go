// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package score judges one session: the facts of its spans and a compiled
// policy in, a verdict out. It is a pure function, and the only place where
// sealing and monitoring meet; the processor and the command line both call it,
// so they cannot disagree.
//
// Reading order: score.go is the whole idea on one page. The other files follow its
// phases:
//
//   - join_*.go build the tree of spans, deduplicate redelivered spans, and join tool
//     spans and message parts to calls;
//   - resolve_*.go resolve each call: its result, whether it was never dispatched,
//     whether a model was shown something else;
//   - seal.go evaluates each call against its contracts;
//   - facts*.go list the facts of the trace in the order of their times;
//   - project_*.go project facts to the events of a protocol, and protocol.go steps
//     its monitor;
//   - conversation.go and snapshot.go carry monitors from trace to trace, late.go and
//     provisional.go evaluate spans before their trace is complete and after it;
//   - work.go bounds the work per trace, and explain.go records the steps for
//     --explain.
//
// Facts are ordered by the times of spans, never by arrival. The scripts in testdata
// are examples of spans and their verdicts.
package score
