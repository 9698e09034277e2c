// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/referencetest"
)

// referenceAnswer is the reference's answer to a case: an expectation as the measured
// answers have it, or an exception that the reference does not handle.
type referenceAnswer struct {
	Error      *string         `json:"error"`
	Exit       *int            `json:"exit"`
	Stage      string          `json:"stage"`
	Crash      *referenceCrash `json:"crash"`
	Surrogates bool            `json:"surrogates"`
}

type referenceCrash struct {
	Types []string `json:"types"` // the exception's, most special first
	At    string   `json:"at"`    // module and function
}

// clean returns the errors that stand for an exception of the reference, and why; no
// reason if the exception is not a known one. Where codes is empty, any decision will do.
func (c *referenceCrash) clean(stage string) (codes []ErrorCode, why string) {
	is := func(exception, at string) bool {
		return slices.Contains(c.Types, exception) && (at == "" || strings.HasPrefix(c.At, at))
	}
	switch {
	case is("RecursionError", ""):
		return []ErrorCode{CodeLimitExceeded}, "the reference fails: a document that exhausts its recursion is over the limit"
	case is("UnicodeEncodeError", ""):
		return []ErrorCode{CodeSchemaInvalid, CodeParseFailed}, loneSurrogate
	case is("TypeError", "normalize.infer_kind"):
		return []ErrorCode{CodeSchemaInvalid}, "the reference fails: a kind that is a collection is no kind"
	case is("TypeError", "models.from_dict") && stage == "contract":
		return []ErrorCode{CodeContractInvalid}, "the reference fails: a contract has an unknown key that is no string"
	case is("OverflowError", "rules.format_clock"):
		return []ErrorCode{CodeInvalidArgument}, "the reference fails: a clock outside of the years 1 to 9999 cannot be written"
	case is("ValueError", "rules.natural_compare"):
		return nil, "the reference fails: a run of digits that are not decimal is text"
	case is("ValueError", "decoder."):
		return []ErrorCode{CodeLimitExceeded}, "the reference fails: an integer of too many digits"
	case is("ValueError", "scanner.scan_flow_scalar"), is("OverflowError", "scanner.scan_flow_scalar"):
		return []ErrorCode{CodeParseFailed}, "the reference fails: a YAML escape beyond the last character"
	case is("ValueError", "scanner.scan_yaml_directive"):
		return []ErrorCode{CodeLimitExceeded}, "the reference fails: a YAML version of too many digits"
	case is("ConstructorError", ""):
		return []ErrorCode{CodeUnsafeInput}, "the reference fails to refuse a YAML construct"
	case is("YAMLError", ""):
		return []ErrorCode{CodeParseFailed}, "the reference fails to refuse YAML that cannot be composed"
	case is("ValueError", "constructor."), is("OverflowError", "constructor."), is("KeyError", "constructor."), is("IndexError", "constructor."), is("AttributeError", "constructor."):
		return []ErrorCode{CodeParseFailed}, "the reference fails: a YAML scalar that is not of its tag's form"
	}
	return nil, ""
}

// surrogateEscape is an escape of half of a surrogate pair, perhaps within another text.
var surrogateEscape = regexp.MustCompile(`(?i)u(0000)?d[89a-f]|\xed[\xa0-\xbf]`)

// Intended differences.
const (
	loneSurrogate = "half of a surrogate pair is refused where it is read"
	yamlTimeCount = "an unquoted YAML time in observed_at counts as it is written"
)

// TestReference compares generated cases with the installed reference. A difference
// fails the test unless it is one of those that are listed with their reason.
func TestReference(t *testing.T) {
	reference := referencetest.Start(t)
	count := 20_000
	if raceEnabled {
		count = 2_000
	}
	count = referencetest.Cases(t, count)
	cases := func(yield func(referencetest.Case) bool) {
		for i := range count {
			if !yield(referencetest.NewCase(i)) {
				return
			}
		}
	}
	start := time.Now()
	same, listed, failures := map[string]int{}, map[string]int{}, 0
	err := referencetest.Each(reference, cases, func(c referencetest.Case) any { return map[string]any{"check": c} }, func(c referencetest.Case, text []byte) {
		kind, why, difference := compareCase(&c, text)
		switch {
		case why != "":
			listed[why]++
		case difference == "":
			same[kind]++
		default:
			if failures++; failures <= 20 {
				t.Errorf("case %d (%s):\n%s\ninput (%s): %.600q\ncontract (%s): %.600q\nnow: %q\nreference: %.300s",
					c.Number, c.Kind, difference, c.Input.Format, c.Input.Text, c.Contract.Format, c.Contract.Text, c.Now, text)
			}
		}
	})
	require.NoError(t, err)
	require.Zero(t, failures, "cases differ")
	if count >= 20_000 {
		for _, want := range reachable {
			require.NotZero(t, same[want], "no case is %s", want)
		}
	}
	t.Logf("%d cases in %s", count, time.Since(start).Round(time.Millisecond))
	for _, kind := range slices.Sorted(maps.Keys(same)) {
		t.Logf("same: %s: %d", kind, same[kind])
	}
	for _, why := range slices.Sorted(maps.Keys(listed)) {
		t.Logf("listed: %s: %d", why, listed[why])
	}
}

// reachable are the answers that the cases must reach.
var reachable = []string{
	"unknown [NO_DISPATCH]", "unknown [TRANSPORT_FAILED]", "parse_error [PARSE_FAILED]", "unknown [PROTOCOL_CONFLICT]",
	"empty [EMPTY_WITHOUT_NOT_FOUND_SENTINEL]", "observed [EMPTY_WITHOUT_NOT_FOUND_SENTINEL]",
	"source_mismatch [SOURCE_MISMATCH]", "source_mismatch [TARGET_MISMATCH]", "source_mismatch [SOURCE_MISMATCH TARGET_MISMATCH]",
	"stale [STALE_OBSERVATION]", "unknown [MISSING_REQUIRED_FIELD STALE_OBSERVATION]", "unknown [SCHEMA_INVALID]",
	"partial [MISSING_REQUIRED_FIELD]", "unverified_effect [UNVERIFIED_EFFECT]",
	"sealed [SEALED_WITH_REQUIRED_EVIDENCE]", "not_found [SEALED_WITH_REQUIRED_EVIDENCE]",
	"refused SCHEMA_INVALID", "refused PARSE_FAILED", "refused CONTRACT_INVALID", "refused INVALID_ARGUMENT", "refused UNSAFE_INPUT", "refused LIMIT_EXCEEDED",
}

// compareCase answers a case. It returns what kind of answer it is, why it may differ from
// the reference's, if it does, and how it differs.
func compareCase(c *referencetest.Case, text []byte) (kind, why, difference string) {
	var answer referenceAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", "", err.Error()
	}
	row := conformanceRow{
		Format: c.Input.Format, InputB64: encoded(c.Input.Text), ContractFormat: c.Contract.Format, ContractB64: encoded(c.Contract.Text),
		Now: c.Now, Redact: c.Redact, Expect: text,
	}
	report, err := row.check()
	var refusal ErrorCode
	if e := (*Error)(nil); errors.As(err, &e) {
		refusal = e.Code
	}
	lone := answer.Surrogates || err == error(errLoneSurrogate) && surrogateEscape.Match(bytes.ReplaceAll(slices.Concat(c.Input.Text, c.Contract.Text), []byte{0}, nil))
	if answer.Crash != nil {
		codes, why := answer.Crash.clean(answer.Stage)
		switch {
		case why != "" && (slices.Contains(codes, refusal) || len(codes) == 0 && err == nil):
			return "", why, ""
		case lone && (refusal == CodeSchemaInvalid || refusal == CodeParseFailed):
			return "", loneSurrogate, ""
		case row.observesYAMLTime() && strings.HasPrefix(answer.Crash.At, "rules.format_clock"):
			return "", yamlTimeCount, ""
		}
		return "", "", fmt.Sprintf("the reference fails with %v: want %v, got %v", answer.Crash, codes, err)
	}
	difference = row.verifyCheck()
	switch {
	case difference == "" && answer.Error != nil:
		return "refused " + *answer.Error, "", ""
	case difference == "":
		return fmt.Sprint(report.Evaluation.TruthState, " ", report.Evaluation.ReasonCodes), "", ""
	case lone && (refusal == CodeSchemaInvalid || refusal == CodeParseFailed || err == nil && !report.Payload.Parsed):
		return "", loneSurrogate, ""
	case row.observesYAMLTime() && err == nil:
		// Nothing else may differ than what depends on the time.
		row.ignoreTime = true
		if row.verifyCheck() == "" {
			return "", yamlTimeCount, ""
		}
	}
	return "", "", difference
}

func encoded(text []byte) *string {
	s := base64.StdEncoding.EncodeToString(text)
	return &s
}
