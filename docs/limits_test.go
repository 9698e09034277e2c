// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor"
)

// limitTests names, for each row of docs/limits.md, the test that shows what happens
// past the limit.
var limitTests = map[string]string{
	"max_bytes":                   "processor TestAssemblerScripts",
	"max_traces":                  "processor TestAssemblerScripts",
	"max_spans_per_trace":         "processor TestOneTraceForEverything",
	"root_delay":                  "processor TestAssemblerScripts",
	"idle_timeout":                "processor TestAssemblerScripts",
	"max_age":                     "processor TestAssemblerScripts",
	"decided_cache":               "processor TestDecisionCacheAgainstList",
	"max_sessions":                "processor TestForgottenConversations",
	"max_session_bytes":           "processor TestStatesOfConversationsAreBounded",
	"session_ttl":                 "processor TestForgottenConversations",
	"max_clock_skew":              "processor TestSessionScripts",
	"num_shards":                  "processor TestShardsAreEvenAndFixed",
	"policy_reload_interval":      "processor TestReloadInterval",
	"retry::initial_interval":     "processor TestRetryableErrorIsRetried",
	"retry::max_interval":         "processor TestRetryableErrorIsRetried",
	"retry::max_elapsed_time":     "processor TestLostSpansAreCounted",
	"telemetry::max_tools":        "processor TestToolLabelsAreBounded",
	"conversations.evictedFactor": "internal/conversations TestConversationsAgainstList",
	"processor.admissionPatience": "processor TestPressureReachesSenders",
	"processor.maxProvisional":    "processor TestProvisionalVerdictsAreBounded",
	"processor.maxWarned":         "processor TestWarningsAreBounded",
	"processor.maxLookedAt":       "processor TestLookoutIsBounded",
	"processor.maxLookedScopes":   "processor TestLookoutIsBounded",
	"processor.maxScopeKey":       "processor TestUnreadToolCallsAreLoggedOnce",
	"wal.Format":                  "processor TestNewerStorage",

	"score.workBase":            "internal/score TestTraceBeyondTheBoundIsUnscored",
	"score.workPerSpan":         "internal/score TestTraceBeyondTheBoundIsUnscored",
	"score.MaxConversations":    "internal/score TestScripts",
	"score.maxSeenTrace":        "internal/score TestSeenEventsAreBounded",
	"score.maxScanned":          "internal/score TestJudgingIsLinear",
	"score.maxNested":           "internal/score TestJudgingIsLinear",
	"score.maxBeside":           "internal/score TestJudgingIsLinear",
	"score.maxModelsBeside":     "internal/score TestJudgingIsLinear",
	"score.maxSpellings":        "internal/score TestJudgingIsLinear",
	"score.maxHistory":          "internal/score TestConversationKeepsTheLast",
	"score.maxKnownCalls":       "internal/score TestConversationKeepsTheLast",
	"score.maxSeenConversation": "internal/score TestSeenEventsAreBounded",
	"score.maxDataDepth":        "internal/score TestTextsAreFoundSoDeep",
	"score.maxNameRunes":        "internal/score TestObservationLimits",
	"score.maxRefRunes":         "internal/score TestObservationLimits",
	"score.maxEvidenceRunes":    "internal/score TestObservationLimits",
	"score.maxEvidenceRefs":     "internal/policy TestLimits", // a policy has no more
	"session.maxRegister":       "internal/session TestLongRegisters",

	"jsonvalue.MaxBytes":     "internal/genai TestJSONPastItsLimitsIsText",
	"jsonvalue.MaxDepth":     "internal/genai TestJSONPastItsLimitsIsText",
	"jsonvalue.MaxIntDigits": "internal/genai TestJSONPastItsLimitsIsText",
	"genai.MaxID":            "internal/genai TestBoundedID",
	"genai.maxValueDepth":    "internal/genai TestValueDepth",
	"genai.maxFlatDepth":     "internal/genai TestFlatDepth",
	"genai.maxWrappers":      "internal/genai TestWrappersAreBounded",
	"genai.maxListDepth":     "internal/genai TestLists",
	"genai.maxDataDepth":     "internal/genai TestDataDepth",
	"genai.maxPythonLiteral": "internal/genai TestPythonLiteralIsBounded",
	"genai.maxPythonDepth":   "internal/genai TestPythonLiteralIsBounded",
	"genai.maxHistory":       "internal/genai TestHistoriesAreBounded",
	"genai.maxUnreadScopes":  "internal/genai TestUnreadNamesAreSafe",
	"genai.maxUnreadNames":   "internal/genai TestUnreadScopes",
	"genai.maxMaskDepth":     "internal/genai TestMaskDepth",
	"genai.MaxDialects":      "internal/genai TestSettingsErrors",
	"genai.maxPathLength":    "internal/genai TestDialectLimits",
	"genai.maxPathSteps":     "internal/genai TestDialectLimits",
	"genai.maxSettingsNodes": "internal/genai TestDialectLimits",
	"genai.maxFaults":        "internal/genai TestDialectLimits",
	"genai.maxNameLength":    "internal/genai TestSettingsErrors",
	"redact.maxDepth":        "internal/redact TestDepth",
	"otlpjson.maxDepth":      "internal/otlpjson TestForms",

	"engine.maxName":           "internal/engine TestEnvelopeLimits",
	"engine.maxRef":            "internal/engine TestEnvelopeLimits",
	"engine.maxEvidenceRef":    "internal/engine TestEnvelopeLimits",
	"engine.maxEvidenceRefs":   "internal/engine TestEnvelopeLimits",
	"engine.maxObservedAt":     "internal/engine TestEnvelopeLimits",
	"engine.maxMetadata":       "internal/engine TestMetadata",
	"engine.maxDocumentBytes":  "internal/engine TestDocumentLimits",
	"engine.maxDepth":          "internal/engine TestDocumentLimits",
	"engine.maxNodes":          "internal/engine TestDocumentLimits",
	"engine.maxStringLength":   "internal/engine TestDocumentLimits",
	"yaml11.maxDepth":          "internal/yaml11 TestHostileTexts",
	"yaml11.maxNumber":         "internal/yaml11 TestNumberLength",
	"yaml11.maxCommentWork":    "internal/yaml11 TestHostileTexts",
	"engine.maxRequiredFields": "internal/engine TestContractLimits",
	"engine.maxFieldName":      "internal/engine TestContractLimits",
	"engine.maxAgeLimit":       "internal/engine TestAgeLimit",
	"engine.maxFixtureName":    "cmd/resultseal TestFixtureFaults",

	"policy.MaxSize":              "internal/policy TestLimits",
	"policy.maxMapDepth":          "internal/policy TestMapDepth",
	"policy.maxAliasCost":         "internal/policy TestAliasBomb",
	"policy.maxMergeDepth":        "internal/policy TestAliasBomb",
	"policy.maxPatternLength":     "internal/policy TestLimits",
	"policy.maxGlobNesting":       "internal/policy TestLimits",
	"policy.maxNameLength":        "internal/policy TestLimits",
	"policy.maxDescriptionLength": "internal/policy TestLimits",
	"policy.maxOwnerLength":       "internal/policy TestLimits",
	"policy.maxRunbookLength":     "internal/policy TestLimits",
	"policy.maxReasonLength":      "internal/policy TestLimits",
	"policy.maxEvidenceRefs":      "internal/policy TestLimits",
	"policy.maxErrors":            "internal/policy TestDiagnosticsAreBounded",
	"policy.maxWarnings":          "internal/policy TestDiagnosticsAreBounded",
	"policy.maxListed":            "internal/policy TestDiagnosticsAreBounded",
	"policy.maxPathVisits":        "internal/policy TestPathLimit",
	"session.maxSource":           "internal/session TestHostileInput",
	"session.maxNesting":          "internal/session TestNestingLimit",
	"session.maxValueDepth":       "internal/session TestValueErrors",

	"display.MaxLabel":          "internal/display FuzzDisplay",
	"display.MaxField":          "internal/display FuzzDisplay",
	"annotate.maxMissingFields": "internal/annotate TestListsAreBounded",
	"annotate.maxViolations":    "internal/annotate TestListsAreBounded",
	"mask.maxIdentifier":        "internal/mask TestIdentifier",

	"--memory":                "cmd/resultseal TestScoreScattered",
	"--jobs":                  "cmd/resultseal TestJobsAreBounded",
	"resultseal.minMemory":    "cmd/resultseal TestMemorySizes",
	"resultseal.maxJobs":      "cmd/resultseal TestJobsAreBounded",
	"resultseal.maxTails":     "cmd/resultseal TestInit",
	"resultseal.maxText":      "cmd/resultseal TestFilesWithoutEnd",
	"resultseal.maxRead":      "cmd/resultseal TestCheckErrors",
	"resultseal.maxStepLine":  "cmd/resultseal TestProtocolRunErrors",
	"resultseal.maxScopes":    "cmd/resultseal TestDialectsCommandIsBounded",
	"resultseal.maxNames":     "cmd/resultseal TestDialectsCommandIsBounded",
	"resultseal.maxShown":     "cmd/resultseal TestDialectsCommandIsBounded",
	"resultseal.maxNodeDepth": "cmd/resultseal TestFixtureFaults",
	"traceread.minValue":      "internal/traceread TestLeastValue",
	"traceread.maxRequest":    "internal/traceread TestSizesThatCannotBe",
	"traceread.longLine":      "internal/traceread TestForms",
	"traceread.roomShare":     "internal/traceread TestMemoryOfValues",
	"traceread.maxOfOne":      "internal/traceread TestCollectionOfOneTrace",
	"traceread.maxSkipped":    "internal/traceread TestLineWithoutEnd",
	"traceread.maxNesting":    "internal/traceread TestNesting",
	"traceread.maxLists":      "internal/traceread TestNesting",
	"traceread.maxResults":    "internal/traceread TestNesting",
	"traceread.maxLayers":     "internal/traceread TestBroken",
	"traceread.maxWindow":     "internal/traceread TestSizesThatCannotBe",
	"spill.MemoryLimit":       "internal/spill TestLimits",
	"spill.maxBlob":           "internal/spill TestLimits",
	"report.maxFindings":      "cmd/resultseal TestFindingsAreBounded",
	"report.maxPlaces":        "cmd/resultseal TestFindingsAreBounded",
	"report.maxShownContent":  "cmd/resultseal TestShownContentIsBounded",
	"report.maxDrawn":         "cmd/resultseal TestLargeProtocolsAreNotDrawn",
	"explain.maxShown":        "cmd/resultseal TestShownContentIsBounded",
	"learn.maxProtocols":      "internal/learn TestLearningIsBounded",
	"learn.maxStates":         "internal/learn TestProtocolsAreBounded",
	"learn.maxPrefixes":       "internal/learn TestProtocolsAreBounded",
	"learn.maxFields":         "internal/learn TestLearningIsBounded",
	"learn.maxPairs":          "internal/learn TestLearningIsBounded",
	"learn.maxListPaths":      "internal/learn TestLearningIsBounded",
	"learn.maxName":           "internal/learn TestLearningIsBounded",
}

// noLimits are constants that are named like limits and bound nothing that a user
// could notice.
var noLimits = map[string]string{
	"processor.maxSpareFacts":  "memory that is reused",
	"processor.maxSpare":       "memory that is reused",
	"resultseal.maxSpansAgain": "memory that is reused",
	"session.maxTrailingZeros": "how numbers are written",
	"session.maxLeadingZeros":  "how numbers are written",
	"session.maxExcerpt":       "how much of a line an error shows",
	"policy.maxExcerpt":        "how much of a line an error shows",
	"policy.maxYAMLSearch":     "how long the column of a YAML error is searched; then only its line is reported",
	"genai.maxRows":            "the built-in dialects and MaxDialects; a test compares them",
	"genai.maxPlaceholder":     "the longest placeholder that instrumentations write",
	"genai.maxCutMarker":       "the longest marker of a cut text",
	"genai.minCut":             "the shortest text that is taken for a cut copy",
	"learn.maxSentinel":        "the longest text that is taken for not found",
}

// limitRow is a row of docs/limits.md: an anchor, its name, its value and the rest.
var limitRow = regexp.MustCompile("(?m)^\\| <a id=\"([a-z]+)-([^\"]+)\"></a>`([^`]+)` \\| ([^|]*) \\|(.*)\\|$")

// limits returns the rows of docs/limits.md by kind and name: their values.
func limits(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("limits.md")
	require.NoError(t, err)
	rows := limitRow.FindAllStringSubmatch(string(text), -1)
	require.Equal(t, strings.Count(string(text), "<a id="), len(rows), "each anchor is that of a row")
	kinds := map[string]map[string]string{}
	for _, row := range rows {
		kind, anchor, name, value, rest := row[1], row[2], row[3], row[4], row[5]
		require.Equal(t, name, anchor)
		if kinds[kind] == nil {
			kinds[kind] = map[string]string{}
		}
		require.NotContains(t, kinds[kind], name, "%s is there twice", name)
		kinds[kind][name] = value
		require.Equal(t, 1, strings.Count(rest, " | "), "%s: what it bounds, and what happens past it", name)
		bounds, _, _ := strings.Cut(rest, " | ")
		require.NotEmpty(t, strings.TrimSpace(bounds), name)
	}
	return kinds
}

// quantity reads a value of the page: digits with commas, a size or a duration, and
// then words.
func quantity(t *testing.T, text string) int64 {
	t.Helper()
	number, unit, _ := strings.Cut(text, " ")
	if d, err := time.ParseDuration(number); err == nil && number != "0" {
		return int64(d)
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(number, ",", ""), 10, 64)
	require.NoError(t, err, text)
	switch unit {
	case "KiB":
		return n << 10
	case "MiB":
		return n << 20
	}
	return n
}

// intConstants returns the integer constants of the packages below a folder, by the
// name of the package and theirs. The processor's rooms count as the processor's,
// but for the log, which has a format.
func intConstants(t *testing.T) map[string]constant.Value {
	t.Helper()
	out := map[string]constant.Value{}
	for _, top := range []string{"internal", "cmd/resultseal", "processor/resultsealprocessor"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", top), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), "metadata") {
				return filepath.SkipDir
			}
			name := d.Name()
			if strings.HasPrefix(top, "processor") && name != "wal" {
				name = "processor"
			}
			for constantName, v := range constantsOf(t, dir) {
				key := name + "." + constantName
				if before, ok := out[key]; ok {
					require.True(t, constant.Compare(before, token.EQL, v), "%s has two values", key)
				}
				out[key] = v
			}
			return nil
		}))
	}
	return out
}

// constantsOf returns the integer constants that the files of a folder declare
// outside of functions.
func constantsOf(t *testing.T, dir string) map[string]constant.Value {
	t.Helper()
	expressions := map[string]ast.Expr{}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				for i, id := range spec.(*ast.ValueSpec).Names {
					if values := spec.(*ast.ValueSpec).Values; i < len(values) {
						expressions[id.Name] = values[i]
					}
				}
			}
		}
	}
	out := map[string]constant.Value{}
	for name, e := range expressions {
		if v := evaluate(e, expressions, 0); v.Kind() == constant.Int {
			out[name] = v
		}
	}
	return out
}

// evaluate returns the value of a constant expression, or an unknown one.
func evaluate(e ast.Expr, named map[string]ast.Expr, depth int) constant.Value {
	unknown := constant.MakeUnknown()
	if depth > 10 {
		return unknown
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return evaluate(e.X, named, depth+1)
	case *ast.Ident:
		if inner, ok := named[e.Name]; ok {
			return evaluate(inner, named, depth+1)
		}
	case *ast.SelectorExpr:
		durations := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "time" && durations[e.Sel.Name] != 0 {
			return constant.MakeInt64(int64(durations[e.Sel.Name]))
		}
	case *ast.BinaryExpr:
		x, y := evaluate(e.X, named, depth+1), evaluate(e.Y, named, depth+1)
		if x.Kind() != constant.Int || y.Kind() != constant.Int {
			return unknown
		}
		if e.Op == token.SHL || e.Op == token.SHR {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return unknown
}

// numericSettings returns the defaults of the settings that are numbers or durations.
func numericSettings(prefix string, v reflect.Value, out map[string]int64) {
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Tag.Get("mapstructure")
		name, _, _ = strings.Cut(name, ",")
		if name == "" {
			continue
		}
		switch field.Kind() {
		case reflect.Int, reflect.Int64:
			out[prefix+name] = field.Int()
		case reflect.Struct:
			numericSettings(prefix+name+"::", field, out)
		}
	}
}

// The page of limits has the settings, flags and constants of the code, all of them
// and no others, with their values, and each has a test.
func TestLimits(t *testing.T) {
	page := limits(t)

	settings := map[string]int64{}
	numericSettings("", reflect.ValueOf(resultsealprocessor.NewFactory().CreateDefaultConfig()).Elem(), settings)
	for name, want := range settings {
		require.Contains(t, page["setting"], name)
		require.Equal(t, want, quantity(t, page["setting"][name]), name)
	}
	require.Len(t, page["setting"], len(settings))

	named := intConstants(t)
	isLimit := regexp.MustCompile(`\.(max|Max|min|Min)[A-Z]`)
	used := map[string]bool{}
	var missing []string
	for name := range named {
		if _, ok := page["limit"][name]; ok || !isLimit.MatchString(name) {
			continue
		}
		if _, ok := noLimits[name]; !ok {
			missing = append(missing, name)
		}
		used[name] = true
	}
	require.Empty(t, missing, "limits that are no rows of docs/limits.md")
	for name := range noLimits {
		require.True(t, used[name], "%s: there is no such constant, or it is a row", name)
	}
	for name, value := range page["limit"] {
		require.Contains(t, named, name, "there is no such constant")
		want, _ := constant.Int64Val(named[name])
		require.Equal(t, want, quantity(t, value), name)
	}

	flags := map[string]bool{}
	for _, f := range goFiles(t, "cmd/resultseal") {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				flags["--"+unquote(t, lit)] = true
			}
			return true
		})
	}
	for name := range page["flag"] {
		require.True(t, flags[name], "%s is no flag", name)
	}

	rows := 0
	for _, names := range page {
		rows += len(names)
		for name := range names {
			dir, function, ok := strings.Cut(limitTests[name], " ")
			require.True(t, ok, "%s has no test in limitTests", name)
			require.True(t, slices.Contains(testsOf(t, dir), function), "%s: %s has no test %s", name, dir, function)
		}
	}
	require.Len(t, limitTests, rows, "limitTests names what is no row")
	require.ElementsMatch(t, []string{"setting", "limit", "flag"}, slices.Collect(maps.Keys(page)))
}

// testsOf returns the names of the tests and fuzz targets of a package, or of all of
// the processor.
func testsOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	var files []string
	if dir == "processor" { // in one of its rooms
		for _, pattern := range []string{"*_test.go", "internal/*/*_test.go"} {
			found, err := filepath.Glob(filepath.Join("..", "processor", "resultsealprocessor", pattern))
			require.NoError(t, err)
			files = append(files, found...)
		}
	} else {
		var err error
		files, err = filepath.Glob(filepath.Join("..", dir, "*_test.go"))
		require.NoError(t, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				names = append(names, fn.Name.Name)
			}
		}
	}
	require.NotEmpty(t, names, fmt.Sprintf("%s has no tests", dir))
	return names
}
