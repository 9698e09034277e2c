// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package referencetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Fixture is a command line that reads a fixture. As JSON it is the value of
// "command" in a request. The word {} stands for the path of the file.
type Fixture struct {
	Number int      `json:"-"`
	File   string   `json:"file"`
	Text   []byte   `json:"text"`
	Args   []string `json:"args"`
}

// NewFixture makes the fixture of a number. The same number makes the same fixture.
// None expects a rejection: the reference has no outcome for that.
func NewFixture(number int) Fixture {
	m := maker{Rand: rand.New(rand.NewPCG(uint64(number), 0xf1c5))}
	m.wild = m.IntN(5) < 2
	t := terms{
		source: "shop://orders", target: oneOf(m, "order:7", "日本"), sentinel: "NOT_FOUND", version: m.version(),
		now: time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC), maxAge: oneOf(m, 0, 60),
	}
	kind := oneOf(m, "json", "http_json", "mcp", "stdio", "yaml", "claim_only")
	var fields []field
	put := func(f field) {
		if m.wrongOne(25) {
			f = field{key: f.key, json: m.wrong()}
		}
		if !m.wrongOne(25) {
			fields = append(fields, f)
		}
	}
	put(field{key: "fixture_version", json: oneOf(m, "1", "1", "1", "1.0", "true")})
	name := oneOf(m, "zero-hits", "é 日本 😀", strings.Repeat("n", 255+m.IntN(2)))
	if m.wrongOne(10) {
		name = oneOf(m, "", strings.Repeat("é", 257), strings.Repeat("😀", 256))
	}
	put(m.quoted("name", name))
	if m.one(2) {
		put(field{key: "claim_type", json: oneOf(m, "null", `"found"`, `"not_found"`, `"task_complete"`)})
	}
	if !m.wrongOne(10) {
		put(field{key: "contract", json: m.object(m.contract(&t))})
	}
	put(field{key: "input", json: m.object(m.input(kind, &t))})
	put(field{key: "expected", json: m.object(m.expectation())})
	doc := m.document(fields)
	f := Fixture{Number: number, File: "fixture." + doc.Format, Text: doc.Text, Args: []string{"replay", "{}", "--now", t.now.Format(time.RFC3339)}}
	switch m.IntN(4) {
	case 0:
		f.Args = append(f.Args, "--format", "json")
	case 1:
		f.Args = []string{"validate", "{}"}
	}
	return f
}

// expectation makes the fields of what a fixture expects.
func (m maker) expectation() []field {
	states := []string{"observed", "complete", "empty", "not_found", "partial", "stale", "source_mismatch", "unverified_effect", "parse_error", "unknown", "sealed"}
	codes := []string{"SEALED_WITH_REQUIRED_EVIDENCE", "NO_DISPATCH", "TRANSPORT_FAILED", "EMPTY_WITHOUT_NOT_FOUND_SENTINEL", "SOURCE_MISMATCH", "TARGET_MISMATCH", "it's", `"`, ""}
	fields := []field{{key: "decision", json: oneOf(m, `"sealed"`, `"blocked"`, `"blocked"`)}}
	if m.wrongOne(8) {
		fields[0].json = oneOf(m, `"perhaps"`, `["sealed"]`, "{}", "null", `""`)
	}
	if m.one(3) {
		fields = append(fields, field{key: "truth_state", json: fmt.Sprintf("%q", oneOf(m, states...))})
	}
	if m.wrongOne(8) {
		fields = append(fields, field{key: "truth_state", json: oneOf(m, "null", `""`, `"gone"`, "1", "[]")})
	}
	if m.one(2) {
		list := make([]string, m.IntN(3))
		for i := range list {
			list[i] = fmt.Sprintf("%q", oneOf(m, codes...))
		}
		fields = append(fields, field{key: "reason_codes", json: "[" + strings.Join(list, ",") + "]"})
	}
	if m.wrongOne(8) {
		fields = append(fields, field{key: "reason_codes", json: oneOf(m, "null", `"x"`, "[1]", "{}")})
	}
	if m.wrongOne(12) {
		fields = append(fields, field{key: oneOf(m, "note", ""), json: "1"})
	}
	return fields
}
