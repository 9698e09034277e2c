// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package genai says what a span tells about an agent's work: a tool call with
// its arguments and its result, the messages that a model was shown and
// answered, the agent and the conversation they belong to.
//
// Instrumentations agree on little. Each way of recording is a [Dialect]: a
// table of attribute names, not code. The built-in ones stand in
// dialects_general.go, dialects_frameworks.go, dialects_agents.go and dialects_platforms.go; a new one is a new row and a recorded
// example. Users add rows of their own by [Settings].
//
// A span may speak several dialects at once (an instrumentation that adds its
// attributes to another's span). Every fact is then taken from the first
// dialect of the table that holds it, a user's before the built-in ones.
//
// Reading order: span.go (the facts), dialect.go (the table's form), table.go
// (the table compiled), decode.go and call.go (span to facts), source.go (parts of attributes), failure.go;
// messages.go, message.go, part.go, events.go and transcript.go (message lists in their several
// shapes); histories.go (lists that go on from earlier ones); result.go,
// wrappers.go and arguments.go (what a tool really returned and was given);
// capture.go and truncation.go (content that is not there, or not to its end); unread.go
// (spans that look like tool calls and that no dialect reads). Package redact
// removes content again.
//
// Decoding a span without agent content looks at the first byte and the length of
// its attribute names, and allocates nothing. Values that hold JSON are parsed
// once: here for message lists, on demand for arguments and results. Of a
// conversation that a trace's model calls repeat, only what is new is parsed.
package genai
