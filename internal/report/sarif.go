// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// SARIF writes findings in the Static Analysis Results Interchange Format,
// 2.1.0: one for each observation that is blocked, each protocol that was not
// kept to and each unjudged session. Those that count as failures are errors, of
// the others an inconclusive protocol, what was not recorded and an unjudged
// session are notes, and the rest warnings. version is this program's.
func (r *Report) SARIF(w io.Writer, version string, on FailOn) error {
	out := bufio.NewWriterSize(w, 1<<16)
	rules, index := sarifRules()
	head, err := indentedJSON("      ", map[string]any{
		"driver": map[string]any{
			"name": "ResultSeal", "version": version, "semanticVersion": version,
			"informationUri": "https://github.com/resultseal/otelcol-resultseal",
			"rules":          rules,
		},
	})
	if err != nil {
		return err
	}
	out.WriteString("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"tool\": ")
	out.Write(head)
	for _, part := range []struct {
		key   string
		value any
	}{
		{"invocations", []any{map[string]any{"executionSuccessful": r.Inputs.Broken+r.Inputs.Scattered == 0}}},
		{"properties", map[string]any{"summary": r.Summary, "inputs": r.Inputs}},
	} {
		text, err := indentedJSON("      ", part.value)
		if err != nil {
			return err
		}
		out.WriteString(",\n      \"" + part.key + "\": ")
		out.Write(text)
	}
	out.WriteString(",\n      \"columnKind\": \"unicodeCodePoints\",\n      \"results\": [")
	separator, end := "\n        ", "]"
	for s, err := range r.Sessions() {
		if err != nil {
			return err
		}
		for _, f := range s.findings(on) {
			text, err := indentedJSON("        ", f.sarif(s, index))
			if err != nil {
				return err
			}
			out.WriteString(separator)
			out.Write(text)
			separator, end = ",\n        ", "\n      ]"
		}
	}
	out.WriteString(end + "\n    }\n  ]\n}\n")
	return out.Flush()
}

// findings are those of the session and its protocols, then those of the calls.
// Unjudged protocols are left to the session.
func (s *Session) findings(on FailOn) []*finding {
	all := []*finding{s.finding(on)}
	for i := range s.Protocols {
		if s.Protocols[i].Verdict != "unjudged" {
			all = append(all, s.Protocols[i].finding(s, on))
		}
	}
	for i := range s.Observations {
		all = append(all, s.Observations[i].finding(s, on))
	}
	for i := range s.Uncontracted {
		all = append(all, s.Uncontracted[i].finding(s, on))
	}
	return slices.DeleteFunc(all, func(f *finding) bool { return f == nil })
}

// level is how bad a finding is.
func (f *finding) level() string {
	switch {
	case f.fails:
		return "error"
	case f.rule == "protocol-inconclusive", f.rule == ruleUnjudged, f.rule == "RESULT_NOT_CAPTURED", f.rule == "RESULT_TRUNCATED", f.rule == "ARGUMENTS_NOT_CAPTURED":
		return "note"
	}
	return "warning"
}

func (f *finding) sarif(s *Session, index map[string]int) map[string]any {
	name := s.suite() + "/" + f.trace
	if f.span != "" {
		name += "/" + f.span
	}
	location := map[string]any{
		"logicalLocations": []any{map[string]any{"name": f.subject, "fullyQualifiedName": name, "kind": "object"}},
	}
	if f.subject == "" {
		location["logicalLocations"] = []any{map[string]any{"fullyQualifiedName": name, "kind": "object"}}
	}
	if s.origin.File != "" {
		physical := map[string]any{"artifactLocation": map[string]any{"uri": uriOf(s.origin.File)}}
		if s.origin.Line > 0 {
			physical["region"] = map[string]any{"startLine": s.origin.Line}
		}
		location["physicalLocation"] = physical
	}
	result := map[string]any{
		"ruleId":    f.rule,
		"ruleIndex": index[f.rule],
		"level":     f.level(),
		"message":   map[string]any{"text": f.message + "\n" + strings.Join(f.lines, "\n")},
		"locations": []any{location},
		"partialFingerprints": map[string]any{
			"resultseal/v1": strings.Join([]string{f.rule, f.trace, f.span, f.of}, "/"),
		},
	}
	if len(s.Gaps) > 0 {
		result["properties"] = map[string]any{"gaps": s.Gaps}
	}
	return result
}

// uriOf writes a path as a relative or a file URI.
func uriOf(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

// sarifRules are all that there are, and their places.
func sarifRules() (rules []any, index map[string]int) {
	index = map[string]int{}
	add := func(id, text string) {
		index[id] = len(rules)
		rules = append(rules, map[string]any{
			"id": id, "shortDescription": map[string]any{"text": text},
		})
	}
	for _, verdict := range slices.Sorted(maps.Keys(Verdicts)) {
		if verdict != "compliant" && verdict != "unjudged" {
			add("protocol-"+verdict, Verdicts[verdict])
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(Reasons)) {
		if reason != "SEALED_WITH_REQUIRED_EVIDENCE" {
			add(reason, Reasons[reason])
		}
	}
	add(ruleUnjudged, unjudgedWords)
	add(ruleUncontracted, uncontractedWords)
	return rules, index
}

// indentedJSON writes a value that stands at an indentation.
func indentedJSON(prefix string, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, "  ")
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
