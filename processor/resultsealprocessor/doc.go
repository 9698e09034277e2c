// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package resultsealprocessor is the collector component `resultseal`: spans
// in, the same spans out, plus what can be proved about them.
//
// A span's way through it:
//
//   - ConsumeTraces hands a batch to the loop (processor.go), the one
//     goroutine that owns everything below.
//   - The assembler (assembler.go) moves the spans apart by trace id
//     (split.go) and holds them until their trace is finished: root_delay
//     after its root, after idle_timeout without a span, at max_age, or early
//     because of a limit or a shutdown (finish.go). It is a data structure
//     without a clock; its deadlines wait in queues (queue.go). It remembers
//     which traces were finished (decided.go), and so knows a late span.
//   - A finished trace is put in canonical form (canonical.go): the same spans
//     give the same output in any order of arrival and any split into batches.
//   - What a protocol remembers of a conversation between its traces is in
//     conversations.go.
//   - The judge (judge.go) decodes, scores and annotates it in place. A panic
//     in it is caught and undone.
//   - The trace goes to the next consumer.
//
// One span in is exactly one span out, on every path. What the next consumer
// refuses is counted and logged: the sender was told long before that the
// spans were accepted.
//
// The configuration is in config.go, the metrics in telemetry.go and
// documentation.md. A user's view of all this is in README.md.
package resultsealprocessor
