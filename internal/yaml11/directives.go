// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"regexp"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Parts of the expressions below: empty lines and comments before a document, and the
// marker at its start.
const (
	breaks = `\n\r\x{85}\x{2028}\x{2029}`
	head   = `^(?: *(?:#[^` + breaks + `]*)?[` + breaks + `])*`
	start  = `---(?:[ \t` + breaks + `]|$)`
)

var (
	startsWithDirective = regexp.MustCompile(head + `%`)
	startsExplicitly    = regexp.MustCompile(head + `(?:%|` + start + `)`)
	documentStart       = regexp.MustCompile(`^` + start)
	directive           = regexp.MustCompile(`^%([-\w]+)(?: (.*))?$`)
	version             = regexp.MustCompile(`^ *([0-9]+)\.([0-9]+)(?: +(?:#.*)?)?$`)
)

// directives returns a text with empty lines in place of the directives before the
// document, except those for tags. The library rejects %YAML 1.2, which is read as 1.1, and
// directives that it does not know, which are ignored.
func (s *source) directives(text string) (string, error) {
	if !startsWithDirective.MatchString(text) {
		return text, nil
	}
	var head strings.Builder
	versioned := false
	rest := text
	for !documentStart.MatchString(rest) {
		fail := func(code ErrorCode, message string) (string, error) {
			return "", &Error{code, message, len(s.original) - len(rest)}
		}
		line, end, after, ok := cutLine(rest)
		start := strings.TrimLeft(line, " ")
		m := directive.FindStringSubmatch(line)
		switch {
		case start == "" && ok, strings.HasPrefix(start, "#"):
		case m == nil:
			return fail(CodeMalformed, "expected a directive or ---")
		case m[1] == "TAG":
			head.WriteString(line)
		case m[1] == "YAML":
			v := version.FindStringSubmatch(m[2])
			switch {
			case v == nil:
				return fail(CodeMalformed, "directive without a version")
			case max(len(v[1]), len(v[2])) > jsonvalue.MaxIntDigits:
				return fail(CodeLimitExceeded, "version of too many digits")
			case versioned:
				return fail(CodeMalformed, "second version of the document")
			case strings.TrimLeft(v[1], "0") != "1":
				return fail(CodeMalformed, "version other than 1.1")
			}
			versioned = true
		}
		if !ok {
			return fail(CodeMalformed, "expected --- after directives")
		}
		head.WriteString(end)
		rest = after
	}
	return head.String() + rest, nil
}
