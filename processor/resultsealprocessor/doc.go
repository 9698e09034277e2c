// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package resultsealprocessor is the collector component `resultseal`: spans
// in, the same spans out, plus what can be proved about them.
//
// This package has the factory, the configuration (config.go), the lifecycle
// (processor.go, restore.go, reload.go) and the metrics (telemetry.go, documentation.md).
// The work is done in packages of its own below internal, whose imports point one way:
//
//	scoring ──▶ assemble ──▶ wal ──▶ mailbox
//	    │           │
//	    └───────────┴──▶ canonical, revision
//
// What each does:
//
//   - assemble: batches of spans → completed traces, in bounded memory
//   - scoring: completed traces → scored and forwarded traces
//   - wal: a write-ahead log of keys and bytes, if there is a storage
//   - revision: the policy in force and those of buffered traces
//   - canonical: the canonical form of a trace
//   - mailbox: queues between goroutines
//
// A span's way through them: ConsumeTraces waits while max_bytes is exceeded, splits the
// batch by trace id and hands each part to the shard of its trace. With a storage, it
// appends the batch to the log before. The shard buffers spans until their trace is
// completed, and its handler reads and scores the trace. An emitter forwards it to the
// next consumer and acknowledges its entries in the log.
//
// There are num_shards shards and as many emitters, each a goroutine with its own state.
// Work moves from sender to shard to emitter and never back, through mailboxes that do not
// fill up, so no goroutines wait in a circle.
//
// Every span is forwarded exactly once, on every path. With a storage, delivery across a
// crash is at least once. Spans that the next consumer rejects are counted and logged: the
// sender was told long before that they were accepted.
//
// A user's view of all this is in README.md.
package resultsealprocessor
