// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package scoring scores completed traces and forwards them.
//
// A shard hands a completed trace to its handler, which puts it in canonical form and
// decodes it: the same spans give the same verdict in any order of arrival and any split
// into batches. If no protocol follows the trace's conversation, the handler scores it at
// once. Then an [emitter] forwards it: of its conversation, so that the traces of a
// conversation are scored and forwarded in order, or else of its id. The emitter scores
// what the handler did not, counts the verdict, redacts content and calls the next
// consumer, with retries. The states of conversations are in a [conversations.Store].
//
// In mode stream, spans are forwarded when they arrive, with the verdict of each by
// itself, and only roots are buffered; see streamer. Spans without GenAI content do not
// even come to a shard; see [PassThrough].
//
// A panic in scoring is recovered, and its trace forwarded as it arrived. Names under the
// prefix that a sender has written are removed on every path; see cleaner.
//
// Every span is forwarded exactly once. Spans that the next consumer rejects are counted
// and logged: the sender was told long before that they were accepted.
package scoring
