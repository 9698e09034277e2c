// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonvalue has the JSON value of this module: how it is parsed, compared and
// written.
//
// A [Value] is immutable. [Parse] reads one from a text; the constructors make one from
// other values. A parsed value refers to its text: strings and numbers are parts of it,
// and a string with escapes is decoded when it is asked for. So a Value keeps its whole
// text in memory.
//
// # Numbers
//
// Integers are exact at any size up to MaxIntDigits digits. Floats are double precision.
// 1 is an integer and 1.0 a float, and there are two ways to compare them:
//
//   - The canonical form, of which hashes are taken, keeps them apart.
//   - [Equal] compares by value: 1 equals 1.0, and 9007199254740993 does not equal
//     9007199254740992.0.
//
// NaN, Infinity and -Infinity, and floats that overflow, are values without a canonical
// form.
//
// # The canonical form
//
// [Value.AppendCanonical] writes UTF-8 without white space, keys in code point order, the
// shortest escapes, integers as they are, and floats in the shortest form that is read as
// the same float: with an exponent below 0.0001 and from 1e16 on.
//
// # Limits
//
// A text has at most MaxBytes bytes and MaxDepth levels of arrays and objects, and an
// integer MaxIntDigits digits. Parsing and writing take linear time, but for sorting keys,
// and recurse no deeper than a value is nested.
//
// # YAML
//
// A document in YAML is a Value, too. YAML adds a kind, [Timestamp], and keys that are no
// strings, for which there is [Mapping].
//
// # Errors
//
// An [Error] has a code, a message and an offset in the text. It contains nothing of the
// text, which may be what a tool returned.
package jsonvalue
