// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package yaml11 reads YAML 1.1 documents as the ResultSeal reference does, which uses
// PyYAML.
//
// [Parse] takes the syntax from gopkg.in/yaml.v3, the library, and resolves the scalars
// itself: yes is true, 017 is 15, 1:30 is 90, and 1e3 is a string. It returns a
// [jsonvalue.Value]. Anchors, aliases and tags that are not of plain data are rejected.
//
// # How it works
//
//	text --directives, stand-ins--> library --nodes--> resolve, check --> build --> value
//
// The library reads some texts differently from PyYAML. Most of the differences are closed
// before it reads a text: private characters stand in for those that it would misread, and
// are resolved in the scalars that it returns; see standIns. For example, a tab separates
// tokens for the library and never does for PyYAML. Its stand-in does not, and is an error
// in a plain scalar. Other differences are found by checks of the nodes.
//
// # Differences from PyYAML
//
// Those that are left need a text that nobody writes, and would need a scanner of our own.
// Such a text is rejected, or rejected with another code; it is never read as another value.
//
//   - A colon directly before one of , [ ] { } that ends a plain scalar in a flow collection,
//     as in {a:[1]}, in the same text as one that is part of a tag, or of a plain scalar
//     outside of flow collections, as in a:[1]: CodeMalformed. Either alone is read.
//   - A pair without a key in a flow sequence, as in [? : a], if there is a line break or a
//     comment behind the "?" or no space behind the colon, or if a plain key outside of flow
//     collections ends with "?" and a space: CodeMalformed.
//   - A scalar in quotes, or a folded block, with tabs, in a text in which tabs start or end
//     lines, if a block starts with a tab or if there is such a colon or pair:
//     CodeMalformed.
//   - A flow collection that starts with "?" as a key, as in [? a]: b: CodeMalformed.
//     Other collections as keys are CodeUnsafe.
//   - A tag with two exclamation marks and an escape between them: CodeUnsafe instead of
//     CodeMalformed.
//   - Digits other than 0 to 9 after !!int and !!float: CodeMalformed.
//   - Directives in front of a second document that the library does not know: CodeMalformed,
//     also if there is an anchor or alias. Two documents are CodeMalformed in any case.
//   - More than 10,000 levels: CodeLimitExceeded, also if the text goes on malformed.
//   - So many comments in a text with so many levels of blocks that the library would take
//     long: CodeLimitExceeded. See maxCommentWork.
//
// # Limits
//
// A value has at most 400 levels, a number 16,384 characters and 4,300 digits. Reading takes
// linear time, but for sorting keys. The size of the text is bounded by the caller.
package yaml11
