// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package assemble turns batches of spans into completed traces. It does not evaluate
// them.
//
// A batch is split by trace id into a [Part] for each trace. [Shards] route the parts to
// the shard of their trace, whose [Assembler] buffers them until the trace is completed:
// root_delay after its root, after idle_timeout without a span, at max_age, or early
// because of a limit or a shutdown. The assembler is a data structure without a clock;
// its deadlines are in queues. It remembers the completed traces in a decision cache,
// which detects late spans.
//
// A shard hands each completed [Trace] to its [Handler]. In mode stream, it hands over
// arriving parts as well, for their spans to be forwarded early; what the verdict of the
// trace needs of them is in [Early]. Spans without GenAI content do not even arrive at a
// shard: [PlainSpan] is what is kept of each.
//
// [Accounting] bounds the memory of all spans in the processor, and acknowledges their
// entries in the write-ahead log when they left.
package assemble
