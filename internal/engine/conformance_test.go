// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The measured answers of the reference are rows of JSON lines files. What a row
// is about shows in its fields, so files may be named and mixed as one likes, and
// rows of other parts of the project are passed over.
type conformanceRow struct {
	// A whole check.
	ID             string   `json:"id"`
	Category       string   `json:"category"`
	Flags          []string `json:"flags"`
	Format         string   `json:"format"`
	InputText      *string  `json:"input_text"`
	InputB64       *string  `json:"input_b64"`
	ContractFormat string   `json:"contract_format"`
	ContractText   *string  `json:"contract_text"`
	ContractB64    *string  `json:"contract_b64"`
	Now            string   `json:"now"`
	Redact         []string `json:"redact"`

	// Canonical JSON.
	JSONText  *string `json:"json_text"`
	Canonical *string `json:"canonical"`
	SHA256    string  `json:"sha256"`
	Error     string  `json:"error"`
	Propose   string  `json:"propose"` // where the reference crashes

	// Version ordering.
	Left  *string `json:"left"`
	Right *string `json:"right"`

	Expect json.RawMessage `json:"expect"`

	ignoreTime bool // when it was observed, and whatever depends on that, may differ
}

type conformanceExpect struct {
	Exit        *int           `json:"exit"`
	Error       *string        `json:"error"`
	Stage       string         `json:"stage"`
	RecordJSON  string         `json:"record_json"`
	ContentHash string         `json:"content_hash"`
	PayloadHash *string        `json:"payload_hash"`
	Envelope    map[string]any `json:"envelope"`
}

// conformanceDirs are the committed answers and the directories that
// RESULTSEAL_CORPUS names.
func conformanceDirs() []string {
	dirs := []string{filepath.Join("testdata", "conformance")}
	for dir := range strings.SplitSeq(os.Getenv("RESULTSEAL_CORPUS"), string(os.PathListSeparator)) {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// eachRow calls f with every line of the JSON lines files in a directory.
func eachRow(t *testing.T, dir string, f func(place string, row []byte)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	require.NoError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			require.NoError(t, err)
			data, err = io.ReadAll(z)
			require.NoError(t, err)
		} else if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		lines := bufio.NewReader(bytes.NewReader(data))
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				f(fmt.Sprintf("%s:%d", filepath.Base(name), n), line)
			}
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
	}
}

// allowed names the deviation from the reference that a row may show, if any. A
// row that deviates must still be answered: it must not crash.
func (r *conformanceRow) allowed() string {
	switch {
	case slices.Contains(r.Flags, "lone_surrogate"):
		return loneSurrogate
	case r.Category == "timestamps_quirk":
		return "an odd spelling of a time may be unreadable"
	case slices.Contains(r.Flags, "yaml_date") && r.observesYAMLTime():
		return yamlTimeCount
	}
	return ""
}

func (r *conformanceRow) observesYAMLTime() bool {
	data, err := document(r.InputText, r.InputB64)
	if err != nil || r.Format != "yaml" {
		return false
	}
	doc, err := ParseDocument(data, FormatYAML)
	if err != nil {
		return false
	}
	at, _ := doc.Get("observed_at")
	return at.Kind() == jsonvalue.TimestampKind
}

func document(text, b64 *string) ([]byte, error) {
	switch {
	case text != nil:
		return []byte(*text), nil
	case b64 != nil:
		return base64.StdEncoding.DecodeString(*b64)
	}
	return nil, errors.New("row without a document")
}

func formatNamed(name string) Format {
	if name == "yaml" {
		return FormatYAML
	}
	return FormatJSON
}

// verify answers a row and returns what differs from the expectation.
func (r *conformanceRow) verify() (kind, difference string) {
	switch {
	case r.InputText != nil || r.InputB64 != nil:
		return "check", r.verifyCheck()
	case r.JSONText != nil:
		return "canonical", r.verifyCanonical()
	case r.Left != nil && r.Right != nil:
		var want int
		if err := json.Unmarshal(r.Expect, &want); err != nil {
			return "versions", err.Error()
		}
		return "versions", cmp.Diff(want, CompareVersions(*r.Left, *r.Right))
	}
	return "", ""
}

func (r *conformanceRow) verifyCheck() string {
	var want conformanceExpect
	if err := json.Unmarshal(r.Expect, &want); err != nil {
		return err.Error()
	}
	report, err := r.check()
	if want.RecordJSON == "" {
		if want.Error == nil { // the reference crashes and any decision will do
			if err != nil {
				return "want a decision, got " + err.Error()
			}
			return ""
		}
		var coded *Error
		if !errors.As(err, &coded) {
			return fmt.Sprintf("want error %s, got %s with %s", *want.Error, report.Evaluation.TruthState, report.Evaluation.ReasonCodes)
		}
		if string(coded.Code) != *want.Error || coded.Exit() != *want.Exit {
			return fmt.Sprintf("want error %s and exit %d, got %s and exit %d", *want.Error, *want.Exit, coded, coded.Exit())
		}
		return ""
	}
	if err != nil {
		return "want a record, got " + err.Error()
	}
	var payload *string
	if hash, err := Hash(report.Payload.Value); err == nil && levels(report.Payload.Value) < exhausting {
		payload = &hash
	}
	exit := 0
	if report.Evaluation.Decision == Blocked {
		exit = 1
	}
	got := conformanceExpect{
		Exit:        &exit,
		RecordJSON:  string(report.Record.AppendCanonical(nil)),
		ContentHash: report.Envelope.ContentHash,
		PayloadHash: payload,
		Envelope:    publishedEnvelope(&report.Envelope, report.Payload),
	}
	if r.ignoreTime {
		got.Exit, got.RecordJSON, got.Envelope["observed_at"] = want.Exit, want.RecordJSON, want.Envelope["observed_at"]
	}
	return cmp.Diff(want, got)
}

// check holds the row's input against its contract.
func (r *conformanceRow) check() (Report, error) {
	input, err := document(r.InputText, r.InputB64)
	if err != nil {
		return Report{}, err
	}
	contract, err := document(r.ContractText, r.ContractB64)
	if err != nil {
		return Report{}, err
	}
	clock := func() (time.Time, error) { return ParseClock(r.Now) }
	return Check(Document{input, formatNamed(r.Format)}, Document{contract, formatNamed(r.ContractFormat)}, clock, r.Redact)
}

// publishedEnvelope is an envelope as the reference publishes it.
func publishedEnvelope(env *Envelope, p Payload) map[string]any {
	state := StateObserved
	switch {
	case env.Transport != Transported:
		state = StateUnknown
	case !p.Parsed:
		state = StateParseError
	}
	metadata := map[string]any{}
	for _, m := range env.Metadata() {
		text, err := m.Value.AppendCanonical(nil)
		if err != nil {
			metadata[m.Key] = map[string]any{"$" + m.Value.Kind().String(): withoutForm(m.Value)}
			continue
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			v = err.Error()
		}
		metadata[m.Key] = v
	}
	var version any
	if env.SourceVersion != nil {
		version = *env.SourceVersion
	}
	refs := []any{}
	for _, ref := range env.EvidenceRefs {
		refs = append(refs, ref)
	}
	return map[string]any{
		"schema_version":  "1",
		"observation_id":  env.ObservationID,
		"tool_call_id":    env.ToolCallID,
		"tool_name":       env.ToolName,
		"source_ref":      env.SourceRef,
		"target_ref":      env.TargetRef,
		"observed_at":     env.ObservedAt,
		"content_hash":    env.ContentHash,
		"transport_state": env.Transport.String(),
		"truth_state":     string(state),
		"source_version":  version,
		"evidence_refs":   refs,
		"reason_codes":    []any{},
		"metadata":        metadata,
	}
}

// exhausting is a depth at which the reference can still evaluate a payload, and
// exceeds its recursion limit when it hashes one. No row above it has a payload hash.
const exhausting = 300

// levels is how deep a value is nested. A scalar has one level.
func levels(v jsonvalue.Value) int {
	deepest := 0
	for i := range v.Len() {
		var child jsonvalue.Value
		if v.Kind() == jsonvalue.ArrayKind {
			child = v.Index(i)
		} else {
			_, child = v.Member(i)
		}
		deepest = max(deepest, levels(child))
	}
	return 1 + deepest
}

// withoutForm names a scalar that has no canonical form, as the rows do.
func withoutForm(v jsonvalue.Value) string {
	switch f, _ := v.Float64(); {
	case v.Kind() != jsonvalue.FloatKind:
		return ""
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return "NaN"
}

func (r *conformanceRow) verifyCanonical() string {
	wantError := r.Error
	if r.Propose != "" {
		wantError = r.Propose
	}
	v, err := ParseDocument([]byte(*r.JSONText), FormatJSON)
	var got []byte
	if err == nil {
		if got, err = v.AppendCanonical(nil); err != nil {
			err = refusal(err)
		}
	}
	if r.Canonical == nil {
		var coded *Error
		if !errors.As(err, &coded) || string(coded.Code) != wantError {
			return fmt.Sprintf("want error %s, got %s and %v", wantError, got, err)
		}
		return ""
	}
	if err != nil {
		return "want a canonical form, got " + err.Error()
	}
	hash, err := Hash(v)
	if err != nil {
		return err.Error()
	}
	return cmp.Diff([]string{*r.Canonical, hashPrefix + r.SHA256}, []string{string(got), hash})
}

func TestConformance(t *testing.T) {
	for _, dir := range conformanceDirs() {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			answered, skipped := map[string]int{}, map[string]int{}
			eachRow(t, dir, func(place string, line []byte) {
				var row conformanceRow
				err := json.Unmarshal(line, &row)
				kind, difference := row.verify()
				if kind == "" {
					return // another part's
				}
				require.NoError(t, err, place)
				if why := row.allowed(); why != "" && difference != "" {
					skipped[why]++
					return
				}
				answered[kind]++
				if difference != "" {
					t.Errorf("%s %s (%s):\n%s", place, row.ID, row.Category, difference)
				}
			})
			t.Logf("answered %v, deviations %v", answered, skipped)
		})
	}
}

// TestConformanceFixtures replays the published fixtures.
func TestConformanceFixtures(t *testing.T) {
	for _, dir := range conformanceDirs() {
		names, err := filepath.Glob(filepath.Join(dir, "fixtures", "*"))
		require.NoError(t, err)
		more, err := filepath.Glob(filepath.Join(dir, "*.y*ml"))
		require.NoError(t, err)
		for _, name := range append(names, more...) {
			if fixture, ok := readFixture(t, name); ok {
				t.Run(fixture.Name, func(t *testing.T) {
					require.Empty(t, replayDifference(fixture))
				})
			}
		}
	}
}

// readFixture reads a file if it is a fixture.
func readFixture(t *testing.T, name string) (*Fixture, bool) {
	t.Helper()
	format := FormatJSON
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		format = FormatYAML
	case ".json":
	default:
		return nil, false
	}
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	doc, err := ParseDocument(data, format)
	require.NoError(t, err, name)
	if _, ok := doc.Get("fixture_version"); !ok {
		return nil, false
	}
	f, err := DecodeFixture(doc)
	require.NoError(t, err, name)
	return f, true
}

func replayDifference(f *Fixture) string {
	actual, _, err := f.Replay(benchmarkNow, nil)
	if err != nil {
		return err.Error()
	}
	return cmp.Diff(f.Expected, actual)
}

// TestConformanceNotices corrupts expectations in every way in which they could be
// wrong, and wants each to be noticed.
func TestConformanceNotices(t *testing.T) {
	corruptions := map[string]func(r *conformanceRow, e map[string]any) bool{
		"fingerprint": func(_ *conformanceRow, e map[string]any) bool {
			return replaceIn(e, "record_json", "sha256:", "sha256:0")
		},
		"truth state": func(_ *conformanceRow, e map[string]any) bool {
			return replaceIn(e, "record_json", `"truth_state":"`, `"truth_state":"un`)
		},
		"content hash": func(_ *conformanceRow, e map[string]any) bool {
			return replaceIn(e, "content_hash", "sha256:", "sha257:")
		},
		"payload hash": func(_ *conformanceRow, e map[string]any) bool {
			return replaceIn(e, "payload_hash", "sha256:", "sha257:")
		},
		"exit": func(_ *conformanceRow, e map[string]any) bool { return set(e, "exit", 7.0) },
		"error": func(_ *conformanceRow, e map[string]any) bool {
			_, failed := e["error"].(string)
			return failed && set(e, "error", "OTHER")
		},
		"error for a decision": func(_ *conformanceRow, e map[string]any) bool {
			if _, decided := e["record_json"]; !decided {
				return false
			}
			delete(e, "record_json")
			e["error"] = "SCHEMA_INVALID"
			return true
		},
		"metadata": func(_ *conformanceRow, e map[string]any) bool {
			env, ok := e["envelope"].(map[string]any)
			return ok && set(env, "metadata", map[string]any{})
		},
		"observed at": func(_ *conformanceRow, e map[string]any) bool {
			env, ok := e["envelope"].(map[string]any)
			return ok && set(env, "observed_at", "yesterday")
		},
		"canonical form": func(r *conformanceRow, _ map[string]any) bool {
			if r.Canonical != nil {
				*r.Canonical += " "
			}
			return r.Canonical != nil
		},
		"canonical hash": func(r *conformanceRow, _ map[string]any) bool {
			r.SHA256 += "0"
			return r.Canonical != nil
		},
		"canonical error": func(r *conformanceRow, _ map[string]any) bool {
			known := r.Error != "" && r.Propose == ""
			r.Error = "OTHER"
			return known
		},
		"canonical form for an error": func(r *conformanceRow, _ map[string]any) bool {
			failed := r.JSONText != nil && r.Canonical == nil
			r.Canonical = new(string)
			return failed
		},
		"version order": func(r *conformanceRow, _ map[string]any) bool {
			if r.Left == nil {
				return false
			}
			r.Expect = json.RawMessage("7")
			return true
		},
	}
	noticed := map[string]int{}
	eachRow(t, filepath.Join("testdata", "conformance"), func(place string, line []byte) {
		for name, corrupt := range corruptions {
			if noticed[name] == 40 { // enough of each kind
				continue
			}
			var row conformanceRow
			require.NoError(t, json.Unmarshal(line, &row))
			if row.allowed() != "" {
				return
			}
			var expect map[string]any
			_ = json.Unmarshal(row.Expect, &expect) // a number for versions
			if !corrupt(&row, expect) {
				continue
			}
			if expect != nil {
				var err error
				row.Expect, err = json.Marshal(expect)
				require.NoError(t, err)
			}
			if _, difference := row.verify(); difference == "" {
				t.Errorf("%s: a wrong %s is not noticed", place, name)
			}
			noticed[name]++
		}
	})
	for name := range corruptions {
		require.NotZero(t, noticed[name], "no row could have a wrong %s", name)
	}
}

func set(m map[string]any, key string, v any) bool {
	if _, ok := m[key]; !ok {
		return false
	}
	m[key] = v
	return true
}

func replaceIn(m map[string]any, key, from, to string) bool {
	text, ok := m[key].(string)
	if !ok || !strings.Contains(text, from) {
		return false
	}
	m[key] = strings.ReplaceAll(text, from, to)
	return true
}
