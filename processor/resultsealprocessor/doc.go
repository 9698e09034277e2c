// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package resultsealprocessor is the collector component `resultseal`: spans
// in, the same spans out, plus what can be proved about them.
//
// A span's way through it:
//
//   - ConsumeTraces moves the spans of a batch apart by trace id (split.go) and
//     hands each part to the shard of its trace (processor.go, shard.go). It
//     waits only while more is held than is allowed (admission.go).
//   - The shard's assembler (assembler.go) holds spans until their trace is
//     finished: root_delay after its root, after idle_timeout without a span, at
//     max_age, or early because of a limit or a shutdown (finish.go). It is a
//     data structure without a clock; its deadlines wait in queues (queue.go).
//     It remembers which traces were finished (decided.go), and so knows a late
//     span.
//   - A finished trace is put in canonical form (internal/canonical) and decoded: the
//     same spans give the same output in any order of arrival and any split into
//     batches.
//   - It is judged in place (judge.go), at once or, if a protocol follows its
//     conversation, by the outlet of that conversation (outlet.go), in the order of
//     its traces. A panic in judging is caught and undone. The states of conversations between their
//     traces are in the package internal/conversations of the repository.
//   - The outlet passes it on.
//
// Names under the prefix that the sender has written are removed on every path
// (clean.go).
//
// In mode stream most spans do not wait: stream.go. Those that say nothing of an
// agent do not even come to a shard: silent.go.
//
// With a storage, a batch is appended to a write-ahead log before it is accepted, and
// acknowledged when its traces have left: internal/wal. restore.go reads the log when
// the processor starts.
//
// There are num_shards shards and as many outlets, each a goroutine with its own
// state. Work goes from sender to shard to outlet and never back, through
// mailboxes that do not fill up (internal/mailbox), so nothing can wait in a circle.
//
// One span in is exactly one span out, on every path. What the next consumer
// refuses is counted and logged: the sender was told long before that the
// spans were accepted.
//
// The configuration is in config.go, the metrics in telemetry.go and
// documentation.md. A user's view of all this is in README.md.
package resultsealprocessor
