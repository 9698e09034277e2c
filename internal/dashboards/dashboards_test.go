// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/dashboards"
)

var update = flag.Bool("update", false, "write the dashboards of deploy/grafana/dashboards anew")

var folder = filepath.Join("..", "..", "deploy", "grafana", "dashboards")

// What is committed is what the code makes.
func TestCommittedDashboardsAreCurrent(t *testing.T) {
	files, err := dashboards.All()
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		path := filepath.Join(folder, f.Name)
		if *update {
			require.NoError(t, os.WriteFile(path, f.JSON, 0o644)) //nolint:gosec // to be read by Grafana
		}
		committed, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(committed), string(f.JSON), "%s is stale: run make dashboards", path)
	}
	slices.Sort(names)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for i, e := range entries {
		require.Less(t, i, len(names), "%s is made by nothing", e.Name())
		require.Equal(t, names[i], e.Name())
	}
}

func TestDashboardsComeOutTheSame(t *testing.T) {
	first, err := dashboards.All()
	require.NoError(t, err)
	for range 5 {
		again, err := dashboards.All()
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

// Grafana's own types read what is written, every field of it.
func TestDashboardsAreOfGrafanasForm(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	files, err := dashboards.All()
	require.NoError(t, err)
	for _, f := range files {
		require.Empty(t, strictly(f.JSON), f.Name)
		broken := strings.Replace(string(f.JSON), `"uid"`, `"unheard_of"`, 1)
		require.NotEmpty(t, strictly([]byte(broken)), "a field that does not exist must be noticed")
	}
}

// strictly reads a dashboard and says what is wrong with it. The library's error
// is a list that may be empty and yet not nil.
func strictly(text []byte) string {
	//lint:ignore SA1019 as in dashboards.go
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		return err.Error()
	}
	if err := d.Validate(); err != nil && err.Error() != "" {
		return err.Error()
	}
	return ""
}

type board struct {
	UID         string `json:"uid"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Templating  struct {
		List []struct {
			Name, Type string
			Query      any
			Current    struct{ Value any }
		}
	} `json:"templating"`
	Panels []struct {
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int } `json:"gridPos"`
		Targets                  []struct {
			Expr, LegendFormat, RefID string
		}
		FieldConfig struct {
			Defaults struct {
				Unit  string
				Links []struct{ Title, URL string }
			}
			Overrides []struct{ Matcher struct{ Options string } }
		} `json:"fieldConfig"`
	} `json:"panels"`
}

func boards(t *testing.T) []board {
	t.Helper()
	files, err := dashboards.All()
	require.NoError(t, err)
	out := make([]board, len(files))
	for i, f := range files {
		require.NoError(t, json.Unmarshal(f.JSON, &out[i]))
	}
	return out
}

// Somebody who is woken at night must know what a panel shows without asking.
func TestPanelsSayWhatTheyShow(t *testing.T) {
	for _, b := range boards(t) {
		require.NotEmpty(t, b.Description, b.Title)
		for _, p := range b.Panels {
			if p.Type == "row" {
				continue
			}
			where := b.Title + ": " + p.Title
			require.NotEmpty(t, p.Title, where)
			require.True(t, strings.HasSuffix(p.Description, "."), "%s: %q is no sentence", where, p.Description)
			require.NotEmpty(t, p.FieldConfig.Defaults.Unit, where)
			require.NotEmpty(t, p.Targets, where)
			for _, target := range p.Targets {
				require.NotEmpty(t, target.LegendFormat, where)
			}
		}
	}
}

var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_]+)(?:[:.][^}]*)?\}|([A-Za-z_]+))`)

// A variable that a dashboard does not have stays in the query as it is
// written, and the panel is empty.
func TestVariablesExist(t *testing.T) {
	builtIn := []string{"__rate_interval", "__range", "__field", "__from", "__to", "__url_time_range"}
	for _, b := range boards(t) {
		known := slices.Clone(builtIn)
		var texts []string
		for _, v := range b.Templating.List {
			known = append(known, v.Name)
			if query, ok := v.Query.(string); ok {
				texts = append(texts, query)
			}
		}
		for _, p := range b.Panels {
			texts = append(texts, p.Title)
			for _, target := range p.Targets {
				texts = append(texts, target.Expr)
			}
			for _, l := range p.FieldConfig.Defaults.Links {
				texts = append(texts, l.URL)
			}
		}
		used := map[string]bool{}
		for _, text := range texts {
			for _, m := range reference.FindAllStringSubmatch(text, -1) {
				name := m[1] + m[2]
				used[name] = true
				require.Contains(t, known, name, "%s: %s", b.Title, text)
			}
		}
		for _, name := range known[len(builtIn):] {
			require.True(t, used[name] || name == "datasource", "%s has a variable %s that nothing uses", b.Title, name)
		}
	}
}

// Panels lie beside each other without holes and without covering one another.
func TestPanelsFillTheGrid(t *testing.T) {
	for _, b := range boards(t) {
		type cell struct{ x, y int }
		taken := map[cell]string{}
		widths := map[int]int{}
		for _, p := range b.Panels {
			widths[p.GridPos.Y] += p.GridPos.W
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				require.Less(t, x, 24, p.Title)
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Empty(t, taken[cell{x, y}], "%s covers", p.Title)
					taken[cell{x, y}] = p.Title
				}
			}
		}
		for y, width := range widths {
			require.Equal(t, 24, width, "%s: the row at %d", b.Title, y)
		}
	}
}

// A link's query is one parameter whose value is JSON, with a data source, a
// query and a time range in it.
func TestLinksToTraces(t *testing.T) {
	found := 0
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			for _, l := range p.FieldConfig.Defaults.Links {
				if !strings.HasPrefix(l.URL, "/explore?") {
					continue
				}
				found++
				// As Grafana does: variables first, then the URL is read.
				address, err := url.Parse(reference.ReplaceAllString(l.URL, "VALUE"))
				require.NoError(t, err, p.Title)
				var panes map[string]struct {
					Datasource string
					Queries    []map[string]any
					Range      map[string]string
				}
				require.NoError(t, json.Unmarshal([]byte(address.Query().Get("panes")), &panes), l.URL)
				require.Len(t, panes, 1)
				for _, pane := range panes {
					require.Len(t, pane.Queries, 1)
					require.Equal(t, "VALUE", pane.Datasource)
					require.Len(t, pane.Range, 2)
					switch pane.Queries[0]["queryType"] {
					case "search":
						require.Contains(t, pane.Queries[0]["tags"], "=", l.URL)
					case "traceql":
						require.Contains(t, pane.Queries[0]["query"], `{ span.`, l.URL)
					default:
						t.Fatalf("%s: %v", l.Title, pane.Queries[0])
					}
				}
			}
		}
	}
	require.NotZero(t, found)
}

func TestSpellingsOfMetricNames(t *testing.T) {
	for _, test := range []struct {
		option string
		name   string
		match  bool
	}{
		{"either", "observations", true},
		{"either", "observations_total", true},
		{"either", "observations_count", false},
		{"plain", "observations", true},
		{"plain", "observations_total", false},
		{"with unit and type", "observations", false},
		{"with unit and type", "observations_total", true},
		{"with unit and type", "observations_seconds", true},
	} {
		i := slices.IndexFunc(dashboards.NameOptions, func(o dashboards.NameOption) bool { return o.Text == test.option })
		require.GreaterOrEqual(t, i, 0, test.option)
		// Prometheus matches a label's whole value.
		pattern := regexp.MustCompile("^(?:observations" + dashboards.NameOptions[i].Value + ")$")
		require.Equal(t, test.match, pattern.MatchString(test.name), "%s: %s", test.option, test.name)
	}
}
