// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// referenceRow is a row of docs/reference.md: an anchor, its value, and the rest.
var referenceRow = regexp.MustCompile("(?m)^\\| <a id=\"([a-z]+)-([^\"]+)\"></a>`([^`]+)` \\|(.*)\\|$")

// reference returns the rows of docs/reference.md by kind and value.
func reference(t *testing.T) map[string]map[string][]string {
	t.Helper()
	text, err := os.ReadFile("reference.md")
	require.NoError(t, err)
	kinds := map[string]map[string][]string{}
	rows := referenceRow.FindAllStringSubmatch(string(text), -1)
	require.Equal(t, strings.Count(string(text), "<a id="), len(rows), "each anchor is that of a row")
	for _, row := range rows {
		kind, anchor, value := row[1], row[2], row[3]
		require.Equal(t, value, anchor)
		if kinds[kind] == nil {
			kinds[kind] = map[string][]string{}
		}
		require.NotContains(t, kinds[kind], value, "%s-%s is there twice", kind, value)
		var cells []string
		for cell := range strings.SplitSeq(row[4], " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		kinds[kind][value] = cells
	}
	return kinds
}

// goFiles parses the Go files of a package that are no tests.
func goFiles(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}
	require.NotEmpty(t, files)
	return files
}

// constants returns the values of the string constants of a type.
func constants(t *testing.T, dir, typeName string) (values []string) {
	t.Helper()
	for _, f := range goFiles(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != typeName {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					values = append(values, unquote(t, lit))
				}
			}
			return true
		})
	}
	require.NotEmpty(t, values, typeName)
	return values
}

func unquote(t *testing.T, lit *ast.BasicLit) string {
	t.Helper()
	s, err := strconv.Unquote(lit.Value)
	require.NoError(t, err)
	return s
}

// named returns the names of the values 0, 1, … of a type, up to the first that is
// invalid.
func named[T ~uint8](name func(T) string) (names []string) {
	for v := T(0); name(v) != "invalid"; v++ {
		names = append(names, name(v))
	}
	return names
}

// attributeNames returns the names that package annotate puts behind the prefix:
// those of attributes, and beginnings of names of span events, which end in a dot.
func attributeNames(t *testing.T) (attributes, events []string) {
	t.Helper()
	for _, f := range goFiles(t, "internal/annotate") {
		ast.Inspect(f, func(n ast.Node) bool {
			sum, ok := n.(*ast.BinaryExpr)
			if !ok || sum.Op != token.ADD {
				return true
			}
			prefix, ok := sum.X.(*ast.Ident)
			lit, isLit := sum.Y.(*ast.BasicLit)
			if !ok || !isLit || prefix.Name != "p" {
				return true
			}
			if name := unquote(t, lit); strings.HasSuffix(name, ".") {
				events = append(events, annotate.DefaultPrefix+name)
			} else {
				attributes = append(attributes, annotate.DefaultPrefix+name)
			}
			return true
		})
	}
	require.Greater(t, len(attributes), 20)
	require.Len(t, events, 1)
	return attributes, events
}

// exitCodes returns the exit statuses that the command line returns: 0, those of
// exitCode(…), and those of its function status.
func exitCodes(t *testing.T) []string {
	t.Helper()
	codes := map[string]bool{"0": true}
	note := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
			codes[lit.Value] = true
		}
	}
	for _, f := range goFiles(t, "cmd/resultseal") {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "exitCode" && len(n.Args) == 1 {
					note(n.Args[0])
				}
			case *ast.FuncDecl:
				if n.Name.Name == "status" && n.Recv == nil {
					ast.Inspect(n, func(n ast.Node) bool {
						if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
							note(r.Results[0])
						}
						return true
					})
				}
			}
			return true
		})
	}
	for _, code := range constants(t, "internal/engine", "ErrorCode") {
		codes[fmt.Sprint((&engine.Error{Code: engine.ErrorCode(code)}).Exit())] = true
	}
	return slices.Sorted(maps.Keys(codes))
}

// metadata is what metadata.yaml says of the processor's metrics.
type metadata struct {
	Attributes map[string]struct {
		NameOverride string `yaml:"name_override"`
		Enum         []string
	}
	Telemetry struct {
		Metrics map[string]struct{ Attributes []string }
	}
}

// The reference lists the values of the code, all of them and no others.
func TestReference(t *testing.T) {
	got := reference(t)
	text, err := os.ReadFile("../processor/resultsealprocessor/metadata.yaml")
	require.NoError(t, err)
	var m metadata
	require.NoError(t, yaml.Unmarshal(text, &m))

	gaps := []string{}
	for _, g := range score.AllGaps() {
		gaps = append(gaps, g.String())
	}
	attributes, eventPrefixes := attributeNames(t)
	verdicts := named(score.EventVerdict.String)
	events := []string{"gen_ai.evaluation.result"}
	for _, v := range verdicts[1:] { // none for ok
		events = append(events, eventPrefixes[0]+v)
	}
	metrics := []string{}
	for name := range m.Telemetry.Metrics {
		metrics = append(metrics, "otelcol_"+name)
	}
	for kind, want := range map[string][]string{
		"compliance": named(score.Compliance.String),
		"event":      verdicts,
		"decision":   constants(t, "internal/engine", "Decision"),
		"truth":      constants(t, "internal/engine", "TruthState"),
		"reason":     constants(t, "internal/engine", "ReasonCode"),
		"gap":        gaps,
		"completion": m.Attributes["finalized_by"].Enum,
		"attribute":  attributes,
		"spanevent":  events,
		"metric":     metrics,
		"exit":       exitCodes(t),
		"error":      constants(t, "internal/engine", "ErrorCode"),
	} {
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(got[kind])), kind)
		for value, cells := range got[kind] {
			require.NotEmpty(t, cells[len(cells)-1]+cells[max(0, len(cells)-2)], "%s %s has no meaning", kind, value)
		}
		delete(got, kind)
	}
	require.Empty(t, got, "sections that nothing compares with the code")

	// In the order of the code.
	for kind, want := range map[string][]string{"compliance": named(score.Compliance.String), "gap": gaps} {
		page, err := os.ReadFile("reference.md")
		require.NoError(t, err)
		at := -1
		for _, value := range want {
			i := strings.Index(string(page), fmt.Sprintf("<a id=%q>", kind+"-"+value))
			require.Greater(t, i, at, "%s %s stands before the one before", kind, value)
			at = i
		}
	}

	// A metric has the labels of metadata.yaml.
	for name, metric := range m.Telemetry.Metrics {
		var labels []string
		for _, a := range metric.Attributes {
			label := a
			if o := m.Attributes[a].NameOverride; o != "" {
				label = o
			}
			labels = append(labels, "`"+label+"`")
		}
		require.Equal(t, strings.Join(labels, ", "), reference(t)["metric"]["otelcol_"+name][0], name)
	}
}

// A link to an anchor of the reference leads to one.
func TestReferenceLinks(t *testing.T) {
	text, err := os.ReadFile("reference.md")
	require.NoError(t, err)
	anchors := map[string]bool{}
	for _, a := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(string(text), -1) {
		anchors[a[1]] = true
	}
	for _, h := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		anchors[strings.ReplaceAll(strings.ToLower(h[1]), " ", "-")] = true
	}
	links := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		target := `reference\.md`
		if filepath.Base(page) == "reference.md" {
			target = ""
		}
		for _, link := range regexp.MustCompile(`\]\((?:[^)#\s]*`+target+`)#([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if target == "" && !strings.HasPrefix(link[0], "](#") {
				continue // of another page
			}
			require.True(t, anchors[link[1]], "%s links to #%s", page, link[1])
			links++
		}
	}
	require.Greater(t, links, 20)
}
