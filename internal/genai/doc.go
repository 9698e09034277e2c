// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package genai says what a span tells about an agent's work: a tool call with
// its arguments and its result, the messages that a model was shown and
// answered, the agent and the conversation they belong to.
//
// Instrumentations agree on little. Each way of recording is a [Dialect]: a
// table of attribute names, not code. All of them stand in dialects.go; a new
// one is a new row and a recorded example.
//
// A span may speak several dialects at once (an instrumentation that adds its
// attributes to another's span). Every fact is then taken from the first
// dialect of the table that holds it.
//
// Reading order: span.go (the facts), dialect.go (the table's form),
// dialects.go (the table), decode.go (span to facts), messages.go (message
// lists in their several shapes), result.go (what a tool really returned,
// under its wrappers), capture.go (content that is not there).
//
// Decoding a span without agent content looks at its attribute names only and
// allocates nothing. Values that hold JSON are parsed once, here for message
// lists and on demand for arguments and results.
package genai
