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

	"github.com/resultseal/otelcol-resultseal/internal/describe"
)

// SARIF writes findings in the Static Analysis Results Interchange Format,
// 2.1.0: one for each observation that is blocked, each protocol that was not
// kept to and each unjudged session. The level of a finding is the severity of its
// contract or protocol, see finding.level. Contracts and protocols that the policy
// describes have rules of their own, with help. version is this program's.
func (r *Report) SARIF(w io.Writer, version string, on FailOn) error {
	out := bufio.NewWriterSize(w, 1<<16)
	rules, err := r.sarifRules(on)
	if err != nil {
		return err
	}
	head, err := indentedJSON("      ", map[string]any{
		"driver": map[string]any{
			"name": "ResultSeal", "version": version, "semanticVersion": version,
			"informationUri": "https://github.com/resultseal/otelcol-resultseal",
			"rules":          rules.list,
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
			text, err := indentedJSON("        ", f.sarif(s, rules))
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

// level returns the level of a finding: error for the severity critical, warning
// for warning and note for info. What could have another explanation, an
// inconclusive protocol or a result that was not recorded, is a note unless it
// counts as a failure. A finding that is about no contract or protocol is an error
// if it fails, else a note.
func (f *finding) level() string {
	switch {
	case !f.proved() && !f.fails:
		return "note"
	case f.part != nil:
		return levelOf(f.part.Severity)
	case f.fails:
		return "error"
	}
	return "note"
}

// levelOf returns the level of a severity.
func levelOf(severity string) string {
	return [...]string{"note", "warning", "error"}[severityRank(severity)]
}

// ruleID returns the rule of a finding: a rule of the part that it is about, below
// the common one, if the policy describes it.
func (f *finding) ruleID() string {
	if f.part == nil || !f.part.described() {
		return f.rule
	}
	return f.rule + "/" + url.PathEscape(f.part.Name)
}

func (f *finding) sarif(s *Session, rules *sarifRules) map[string]any {
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
		"ruleId":    f.ruleID(),
		"ruleIndex": rules.index[f.ruleID()],
		"level":     f.level(),
		"message":   map[string]any{"text": f.message + "\n" + strings.Join(f.lines, "\n")},
		"locations": []any{location},
		"partialFingerprints": map[string]any{
			"resultseal/v1": strings.Join([]string{f.rule, f.trace, f.span, f.of}, "/"),
		},
	}
	properties := map[string]any{}
	if len(s.Gaps) > 0 {
		properties["gaps"] = s.Gaps
	}
	if f.part != nil {
		properties["severity"] = f.part.Severity
	}
	if len(properties) > 0 {
		result["properties"] = properties
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

// sarifRules are rules and their places by id.
type sarifRules struct {
	list  []any
	index map[string]int
	words map[string]string // what each common rule means
}

func (rs *sarifRules) add(id string, rule map[string]any) {
	rs.index[id] = len(rs.list)
	rule["id"] = id
	rs.list = append(rs.list, rule)
}

// sarifRules returns the common rules, all that there are, and those of described
// parts that findings have.
func (r *Report) sarifRules(on FailOn) (*sarifRules, error) {
	rules := &sarifRules{index: map[string]int{}, words: map[string]string{}}
	common := func(id, text string) {
		rules.words[id] = text
		rules.add(id, map[string]any{"shortDescription": map[string]any{"text": text}})
	}
	for _, verdict := range slices.Sorted(maps.Keys(describe.Verdicts)) {
		if verdict != "compliant" && verdict != "unjudged" {
			common("protocol-"+verdict, describe.Verdicts[verdict])
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(describe.Reasons)) {
		if reason != "SEALED_WITH_REQUIRED_EVIDENCE" {
			common(reason, describe.Reasons[reason])
		}
	}
	common(ruleUnjudged, unjudgedWords)
	common(ruleUncontracted, uncontractedWords)
	if r.Policy == nil || !r.Policy.anyMetadata() {
		return rules, nil
	}
	own := map[string]*finding{}
	for s, err := range r.Sessions() {
		if err != nil {
			return nil, err
		}
		for _, f := range s.findings(on) {
			if id := f.ruleID(); id != f.rule && own[id] == nil {
				own[id] = f
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(own)) {
		rules.add(id, own[id].described(rules.words[own[id].rule]))
	}
	return rules, nil
}

// described returns the rule of a finding whose part the policy describes. words
// are what the common rule means.
func (f *finding) described(words string) map[string]any {
	p := f.part
	properties := map[string]any{"severity": p.Severity}
	if p.Owner != "" {
		properties["owner"] = p.Owner
	}
	rule := map[string]any{
		"name":                 p.Name,
		"shortDescription":     map[string]any{"text": p.Name + ": " + words},
		"help":                 map[string]any{"text": strings.Join(append([]string{words}, p.lines()...), "\n")},
		"defaultConfiguration": map[string]any{"level": f.level()},
		"properties":           properties,
	}
	if p.Description != "" {
		rule["fullDescription"] = map[string]any{"text": p.Description}
	}
	if p.Runbook != "" {
		rule["helpUri"] = p.Runbook
	}
	return rule
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
