// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package referencetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A Case is an input and a contract. As JSON it is the value of "check" in a request.
type Case struct {
	Number   int      `json:"-"`
	Kind     string   `json:"-"` // of the input, mostly
	Input    Document `json:"input"`
	Contract Document `json:"contract"`
	Now      string   `json:"now"`
	Redact   []string `json:"redact"`
}

// A Document is a text in one of the formats json and yaml.
type Document struct {
	Text   []byte `json:"text"`
	Format string `json:"format"`
}

// terms are what the parts of a case agree on, mostly.
type terms struct {
	source, target string
	sentinel       string
	version        string
	now            time.Time
	maxAge         int
}

// NewCase makes the case of a number. The same number makes the same case.
func NewCase(number int) Case {
	m := maker{Rand: rand.New(rand.NewPCG(uint64(number), 0x5ea1))}
	m.wild = m.IntN(5) < 2
	t := terms{
		source:   oneOf(m, "shop://orders", "crm", "é"),
		target:   oneOf(m, "order:7", "*", "日本"),
		sentinel: oneOf(m, "NOT_FOUND", "NOT_FOUND", "null", "7"),
		version:  m.version(),
		now:      time.Date(2026, 8, 21, 12, 0, 0, m.IntN(3)*500_000_000, time.UTC),
		maxAge:   oneOf(m, 0, 1, 60, 3600, 86400, 31_536_000),
	}
	kind := oneOf(m, "json", "json", "http_json", "http_json", "mcp", "mcp", "stdio", "stdio", "yaml", "yaml", "yaml", "claim_only")
	c := Case{Number: number, Kind: kind, Now: m.clock(t.now)}
	c.Input = m.document(m.input(kind, &t))
	c.Contract = m.document(m.contract(&t))
	if m.one(10) {
		for range m.IntN(3) {
			c.Redact = append(c.Redact, oneOf(m, "source_ref", "evidence_refs", "reason_codes", "decision", "truth_state", "claim_type", "tool_call_id", "observation_id", "resultseal_version", "deterministic_fingerprint", "x", ""))
		}
	}
	return c
}

// document writes fields as JSON or YAML.
func (m maker) document(fields []field) Document {
	if m.wrongOne(25) {
		fields = append(fields, field{key: oneOf(m, "note", "", "Kind", "é"), json: m.json(2), tree: true})
	}
	if m.wrongOne(40) && len(fields) > 0 {
		again := oneOf(m, fields...)
		again.json = m.json(1)
		fields = append(fields, again)
	}
	m.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	format, text := "json", ""
	switch m.IntN(5) {
	case 0, 1:
		format, text = "yaml", m.mapping(fields)
	case 2:
		if m.one(4) {
			format = "yaml" // most JSON is YAML
		}
		fallthrough
	default:
		text = m.space() + m.object(fields) + m.space()
	}
	if m.wrongOne(40) {
		text = oneOf(m, m.json(2), m.yamlScalar(), m.yamlFlow(2), "", " ", "[]", "2026-08-21", strings.TrimPrefix(m.yamlNode(0, 3), "\n"))
	}
	if m.wrongOne(6) {
		text = m.mutate(text)
	}
	return Document{m.encode(text), format}
}

// quoted is a field whose value is a string, with the YAML forms of it.
func (m maker) quoted(key, text string) field {
	f := field{key: key, json: m.jsonString(text), yaml: []string{m.yamlDouble(text)}}
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_:/.TZ+") == "" && !strings.HasSuffix(text, ":") && !strings.HasPrefix(text, "-") {
		f.yaml = append(f.yaml, text) // may be something else then, which counts
	}
	return f
}

// wrong is a value of a type that a key should not have, or should.
func (m maker) wrong() string {
	return oneOf(m, "null", "1", "1.0", "true", "false", "[]", "{}", `[""]`, `""`, `" "`, `"x"`, "0", "-1", `["x"]`, "NaN")
}

// sized makes a text whose length is at a limit.
func (m maker) sized(limit int) string {
	return strings.Repeat(oneOf(m, "a", "é", "😀"), limit-1+m.IntN(3))
}

// input makes the fields of an adapter document.
func (m maker) input(kind string, t *terms) []field {
	var fields []field
	add := func(f ...field) { fields = append(fields, f...) }
	if !m.one(4) {
		f := m.quoted("kind", kind)
		if m.wrongOne(12) {
			f = field{key: "kind", json: oneOf(m, `"text"`, `"JSON"`, `""`, "null", "1", "[]", "{}", "true", `"auto"`, `["json"]`)}
		}
		add(f)
	}
	for _, k := range []string{kind, oneOf(m, "json", "http_json", "mcp", "stdio", "yaml", "claim_only")} {
		add(m.body(k, t)...)
		if !m.one(12) { // mostly only its own keys
			break
		}
	}
	add(m.identity(kind, t)...)
	return fields
}

// body makes the fields of one adapter.
func (m maker) body(kind string, t *terms) []field {
	var fields []field
	// put adds a field, which is left out or of another type now and then.
	put := func(f field) {
		if m.wrongOne(25) {
			f = field{key: f.key, json: m.wrong()}
		}
		if !m.wrongOne(30) {
			fields = append(fields, f)
		}
	}
	value := func(key string) field { return field{key: key, json: m.payload(t), tree: true} }
	switch kind {
	case "json":
		put(value("body"))
	case "http_json":
		put(field{key: "status_code", json: oneOf(m, "200", "200", "200", "201", "204", "301", "399", "400", "404", "500", "199", "-1", "0", "99999999999999999999")})
		put(value("body"))
		if m.one(4) {
			put(m.quoted("response_target", oneOf(m, t.target, "other", "")))
		}
		if m.one(4) {
			put(m.quoted("request_target", oneOf(m, t.target, "other")))
		}
	case "mcp":
		if !m.one(3) {
			put(value("structuredContent"))
		}
		if m.one(2) {
			put(m.quoted("text", oneOf(m, m.text(), t.sentinel, "", `{"id": 7}`)))
		}
		if m.one(2) {
			put(field{key: "isError", json: oneOf(m, "false", "false", "true", "null", "1", `"true"`)})
		}
		if m.one(3) {
			put(field{key: "outputSchema", json: oneOf(m, `{"required":["id"]}`, `{"required":["id","name","id",1,null,"é"]}`, `{"required":"id"}`, `{}`, "null", `[]`, `{"required":[]}`, `{"required":["\u0000",""]}`)})
		}
	case "stdio":
		put(field{key: "exit_code", json: oneOf(m, "0", "0", "0", "0", "0", "1", "-1", "127", "-0", "99999999999999999999")})
		put(value("stdout"))
		if m.one(2) {
			put(m.quoted("output_format", oneOf(m, "json", "json", "text", "JSON", "")))
		}
		if m.one(4) {
			put(m.quoted("stderr", m.text()))
		}
		if m.one(4) {
			put(m.quoted("command", m.text()))
		}
	case "yaml":
		text := strings.TrimPrefix(m.yamlNode(0, 3), "\n")
		switch m.IntN(7) {
		case 0:
			text = m.mapping([]field{{key: "id", json: m.json(2), tree: true}, {key: "status", json: m.jsonString(t.sentinel)}})
		case 1:
			text = m.json(3)
		case 2:
			text = m.limits()
		case 3:
			text = "{" + m.oddEntries() + "}"
		}
		if m.wrongOne(4) {
			text = m.mutate(text)
		}
		put(m.quoted("value", text))
	case "claim_only":
		put(m.quoted("claim", oneOf(m, m.text(), strings.Repeat("é😀", 99+m.IntN(3)))))
	}
	return fields
}

// payload makes the JSON form of a result.
func (m maker) payload(t *terms) string {
	switch m.IntN(12) {
	case 0:
		return m.jsonString(t.sentinel)
	case 1:
		return m.object([]field{{key: oneOf(m, "status", "a"), json: m.jsonString(t.sentinel)}, {key: "id", json: m.json(1)}})
	case 2:
		return m.object([]field{{key: "id", json: "7"}, {key: "name", json: m.json(1)}, {key: "status", json: m.json(0)}})
	case 3, 4: // text that is parsed, perhaps
		text := m.space() + m.json(3) + m.space()
		if m.one(4) {
			text = m.mutate(text)
		}
		return m.jsonString(text)
	case 5:
		if m.one(10) {
			return m.limits()
		}
		return m.jsonString(m.limits())
	default:
		return m.json(3)
	}
}

// limits makes a text at a limit of documents, mostly of a kind that is cheap.
func (m maker) limits() string {
	switch n := m.IntN(60); {
	case n == 0:
		count := 4085 + m.IntN(12)
		return "[" + strings.TrimSuffix(strings.Repeat("0,", count), ",") + "]"
	case n == 1:
		return m.jsonString(strings.Repeat(oneOf(m, "a", "é"), 16_383+m.IntN(3)))
	case n == 2:
		return `{"` + strings.Repeat("k", 16_383+m.IntN(3)) + `":1}`
	case n == 3:
		return m.jsonString(strings.Repeat("a", 65_000)) + strings.Repeat(" ", 66_000)
	case n == 4:
		return `{"a":` + m.number() + `,"b":[` + strings.Repeat("1,", 100) + "1]}"
	case n < 30:
		depth := oneOf(m, 1, 5, 25, 27, 28, 29, 30, 31, 32, 33, 34, 60, 100)
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	default:
		depth := oneOf(m, 1, 5, 25, 27, 28, 29, 30, 31, 32, 33, 34, 60, 100)
		return strings.Repeat(`{"k": `, depth) + "1" + strings.Repeat("}", depth)
	}
}

// identity makes the fields that say where a result is from.
func (m maker) identity(kind string, t *terms) []field {
	var fields []field
	put := func(often int, f field, limit int) {
		if !m.one(often) {
			return
		}
		switch n := m.IntN(25); {
		case n == 0 && m.wild:
			f = field{key: f.key, json: m.wrong()}
		case n == 1 && m.one(3):
			if limit > 0 {
				f = m.quoted(f.key, m.sized(limit))
			}
		}
		fields = append(fields, f)
	}
	mostly := 1
	if kind == "claim_only" || m.wrongOne(20) {
		mostly = 2
	}
	same := func(ref string) string {
		if m.one(12) {
			return "other"
		}
		return ref
	}
	put(mostly, m.quoted("source_ref", same(t.source)), 1024)
	if !m.one(20) || kind != "http_json" {
		put(mostly, m.quoted("target_ref", same(t.target)), 1024)
	}
	name := func() string {
		if m.wrongOne(10) {
			return ""
		}
		return m.text() + "x"
	}
	put(8, m.quoted("tool_name", name()), 256)
	put(8, m.quoted("tool_call_id", name()), 256)
	put(8, m.quoted("observation_id", name()), 256)
	put(3, m.quoted("source_version", oneOf(m, t.version, m.version())), 256)
	if m.one(2) {
		f := m.quoted("observed_at", m.observedAt(t))
		f.yaml = append(f.yaml, m.time(true))
		put(1, f, 64)
	}
	if m.one(3) {
		put(1, field{key: "evidence_refs", json: m.evidence(), yaml: []string{"", "~", "[a]", "\n- a\n- b", "[2026-08-21]", "[1]"}}, 0)
	}
	if m.one(4) {
		put(1, field{key: "metadata", json: m.metadata(), yaml: []string{"{1: a, true: b, ~: c, k: d}", "{a: 2026-08-21, b: .nan}", "{input_kind: x, protocol_conflict: yes}", "{? [a] : b}"}, tree: m.one(4)}, 0)
	}
	return fields
}

func (m maker) evidence() string {
	switch n := m.IntN(16); {
	case n == 0:
		return "[" + strings.TrimSuffix(strings.Repeat(`"e",`, 63+m.IntN(3)), ",") + "]"
	case n == 1:
		return "[" + m.jsonString(m.sized(2048)) + "]"
	case n == 2 && m.wild:
		return m.wrong()
	case n == 3:
		return oneOf(m, "null", "[]")
	default:
		refs := make([]string, m.IntN(4))
		for i := range refs {
			refs[i] = oneOf(m, `"audit:1"`, `"é"`, m.jsonString("a"+m.text()), `"mail:`+strconv.Itoa(i)+`"`)
			if m.wrongOne(8) {
				refs[i] = oneOf(m, `""`, "1", "null", "[]")
			}
		}
		return "[" + strings.Join(refs, ",") + "]"
	}
}

func (m maker) metadata() string {
	if m.one(8) {
		var fields []field
		for i := range 61 + m.IntN(5) {
			fields = append(fields, field{key: fmt.Sprint("k", i), json: oneOf(m, "1", "[]", "null")})
		}
		return m.object(fields)
	}
	var fields []field
	for range m.IntN(4) {
		fields = append(fields, field{
			key:  oneOf(m, "protocol_conflict", "input_kind", "command", "missing_schema_fields", "claimed_text", "a", "", "é"),
			json: oneOf(m, "true", "false", "1", `"true"`, "null", "[]", "{}", m.number(), m.jsonString(m.text())),
		})
	}
	return m.object(fields)
}

// contract makes the fields of a contract.
func (m maker) contract(t *terms) []field {
	var fields []field
	put := func(f field, limit int) {
		if m.wrongOne(60) {
			f = field{key: f.key, json: m.wrong()}
		}
		if limit > 0 && m.wrongOne(30) {
			f = m.quoted(f.key, m.sized(limit))
		}
		if !m.wrongOne(80) {
			fields = append(fields, f)
		}
	}
	put(field{key: "schema_version", json: `"1"`, yaml: []string{`"1"`, "'1'", "!!str 1"}}, 0)
	put(m.quoted("claim_type", oneOf(m, "found", "found", "not_found", "read_complete", "effect_observed", "task_complete")), 0)
	required := make([]string, max(0, m.IntN(6)-2))
	for i := range required {
		required[i] = oneOf(m, `"id"`, `"name"`, `"status"`, `"a"`, `"é"`, `"id"`)
	}
	list := "[" + strings.Join(required, ",") + "]"
	switch n := m.IntN(60); {
	case n == 0:
		list = "[" + strings.TrimSuffix(strings.Repeat(`"id",`, 63+m.IntN(3)), ",") + "]"
	case n == 1:
		list = "[" + m.jsonString(m.sized(256)) + "]"
	case n < 5 && m.wild:
		list = oneOf(m, `[""]`, `[1]`, `["id",null]`, `"id"`, `{"id":1}`)
	}
	put(field{key: "required_fields", json: list}, 0)
	freshness := oneOf(m, `{"mode":"not_required"}`, fmt.Sprintf(`{"mode":"max_age_seconds","max_age_seconds":%d}`, t.maxAge), `{"mode":"source_version"}`)
	if m.wrongOne(12) {
		freshness = oneOf(m, `{"mode":"max_age_seconds"}`, `{"mode":"not_required","max_age_seconds":1}`, `{"mode":"not_required","max_age_seconds":null}`, `{"mode":"max_age_seconds","max_age_seconds":-1}`,
			`{"mode":"max_age_seconds","max_age_seconds":31536001}`, `{"mode":"max_age_seconds","max_age_seconds":1.0}`, `{"mode":"max_age_seconds","max_age_seconds":true}`, `{"mode":"max_age_seconds","max_age_seconds":99999999999999999999}`,
			`{"mode":"never"}`, `{"mode":1}`, `{}`, `{"mode":"not_required","x":1}`, `{"mode":["not_required"]}`)
	}
	put(field{key: "freshness", json: freshness, yaml: []string{"{mode: not_required}", fmt.Sprintf("\n  mode: max_age_seconds\n  max_age_seconds: %d", t.maxAge), "{mode: max_age_seconds, max_age_seconds: 1:00}"}}, 0)
	put(m.quoted("source_ref", t.source), 1024)
	put(m.quoted("target_ref", t.target), 1024)
	if strings.Contains(freshness, "source_version") && !m.wrongOne(12) || m.one(8) {
		put(m.quoted("min_source_version", oneOf(m, t.version, m.version())), 256)
	}
	if !m.one(3) {
		put(m.quoted("not_found_sentinel", oneOf(m, t.sentinel, t.sentinel, t.sentinel, "absent")), 256)
	}
	if m.one(2) {
		put(field{key: "effect_evidence_required", json: oneOf(m, "true", "false"), yaml: []string{"yes", "no", "On"}}, 0)
	}
	return fields
}

// version makes a source version.
func (m maker) version() string {
	parts := make([]string, m.IntN(4)+1)
	for i := range parts {
		parts[i] = oneOf(m, "1", "2", "10", "09", "010", "0", "00", "rev", "v", "a", "b", "é", "٣", "１２", "३", "½", "Ⅷ", "𝟗", "99999999999999999999")
		if m.one(40) {
			parts[i] = oneOf(m, "²", "", "③")
		}
	}
	return strings.Join(parts, oneOf(m, "", ".", "-", "_", " "))
}

// observedAt makes a time near the clock's, at the edges of the contract.
func (m maker) observedAt(t *terms) string {
	if m.one(4) {
		return m.time(false)
	}
	age := time.Duration(oneOf(m, 0, t.maxAge, t.maxAge, t.maxAge+1, t.maxAge-1, -1, t.maxAge/2)) * time.Second
	at := t.now.Add(-age).Add(time.Duration(oneOf(m, 0, 0, 0, 1, -1, 400, 999)) * oneOf(m, time.Microsecond, time.Millisecond, time.Nanosecond))
	zone := oneOf(m, time.UTC, time.UTC, time.FixedZone("", 2*3600), time.FixedZone("", -(5*3600+30*60)))
	return at.In(zone).Format(oneOf(m, time.RFC3339Nano, time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05.000000Z07:00", "20060102T150405.000000Z0700", "2006-01-02 15:04:05,000-07:00", "2006-01-02T15:04:05"))
}

// clock makes a reference clock.
func (m maker) clock(now time.Time) string {
	switch n := m.IntN(24); {
	case n == 0:
		return m.time(false)
	case n < 3:
		return oneOf(m, " ", "\n", "\u00a0", "\x1f", "\u3000") + now.Format(time.RFC3339Nano) + oneOf(m, "", " ", "\r\n", "\v", "\u2028")
	case n == 3 && m.wild:
		return oneOf(m, "9999-12-31T23:30:00-05:00", "0001-01-01T00:30:00+10:00", "9999-12-31T23:59:59.999999Z", "0001-01-01", "", "now", "1755777600")
	default:
		return now.Format(oneOf(m, time.RFC3339Nano, time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02T15:04:05.999999-07:00"))
	}
}

// time makes the spelling of a time, of which some are none.
func (m maker) time(yaml bool) string {
	year := oneOf(m, "2026", "2026", "2025", "2024", "0001", "9999", "0000", "1970", "20260", "026")
	date := oneOf(m, "-08-21", "-08-21", "0821", "-W34-5", "-W34", "W345", "W34", "-W53-7", "-02-29", "-12-31", "-13-01", "-8-1", "-08", "", "-W00-1", "-W34-0", "-W34-8", "-233", "233")
	clock := oneOf(m, "12:00:00", "12:00", "12", "120000", "1200", "24:00", "23:59:60", "12:60", "00:00:00.5", "12:00:00.123456789", "12:00:00,5", "120000.25", "12:00:00.", "1:02:03", "12:0", "1", "12:00:00.12345x", "12:00.5", "12.5")
	zone := oneOf(m, "Z", "Z", "+00:00", "+02:00", "-0530", "+02", "-23:59", "+24:00", "+02:00:30", "+0200:30", "+02:00:30.5", "+2", "z", "", "", " +02:00", "+02:60", "-00:00:00.5", "ZZ", "+-02")
	if !m.one(3) {
		zone = oneOf(m, "Z", "+00:00", "+02:00", "")
	}
	separator := oneOf(m, "T", "T", "T", " ", "t", "_", "é", "-", "  ", "", "W", "😀")
	text := year + date
	if !m.one(6) {
		text += separator + clock + zone
	}
	if !yaml && m.one(12) {
		text = m.mutate(text)
	}
	return text
}
