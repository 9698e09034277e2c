// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/dashboards"
)

// TestOnCall lives through a bad day in a minute and a half.
func TestOnCall(t *testing.T) {
	f := startFleet(t)
	agents := f.alertsOfAgents()
	f.await(t, agents)
	f.trouble(t)
	processor := []string{
		"ResultSealTracesCutShort finalized_by=overflow",
		"ResultSealLateSpans on small",
		"ResultSealSpansLost on lossy",
		"ResultSealExportQueueFilling on lossy",
	}
	f.await(t, processor)
	t.Run("every panel shows something", f.testPanels)
	t.Run("variables have values", f.testVariables)
	t.Run("every metric that is named is there", f.testNames)
	t.Run("durations lead to traces", f.testExemplars)

	f.victim.Kill()
	f.await(t, []string{"ResultSealCollectorDown on victim"})
	t.Run("alerts that should fire, and no others", func(t *testing.T) {
		want := distinct(slices.Concat(agents, processor, []string{"ResultSealCollectorDown on victim"}))
		require.Equal(t, want, f.fired(t))
		require.Equal(t, want, f.told())
	})

	f.cancel()
	f.background.Wait()
	for _, c := range f.collectors {
		if c != f.victim && c != f.lossy {
			c.stop(t)
		}
	}
	t.Run("sampling keeps what it must", f.testSampling)
	t.Run("Jaeger finds the violating traces", f.testJaeger)
	t.Run("results are judged and not stored", func(t *testing.T) {
		require.True(t, f.relay.contains("resultseal.decision"))
		require.True(t, f.relay.contains("gen_ai.tool.call.arguments"))
		require.False(t, f.relay.contains(private))
	})
}

// alertsOfAgents are those that the recordings and the load are reason for.
func (f *fleet) alertsOfAgents() []string {
	out := []string{
		"ResultSealSealRateDropped tool=find_account",
		"ResultSealSealRateDropped tool=read_shelf",
		"ResultSealUncapturedUp",
		"ResultSealContractSilent contract=renamed",
		"ResultSealContractUnused contract=misspelled",
		"ResultSealProtocolUnjudged protocol=misspelled",
	}
	used := map[string]bool{}
	for _, r := range f.recordings {
		for _, run := range r.runs {
			maps.Copy(used, run.contracts)
			for _, p := range run.protocols {
				if name, verdict, _ := strings.Cut(p.(string), "="); verdict == "violation" {
					out = append(out, "ResultSealProtocolViolation protocol="+name)
				}
			}
		}
	}
	for _, r := range f.recordings {
		for _, name := range r.contracts {
			if !used[name] {
				out = append(out, "ResultSealContractUnused contract="+name)
			}
		}
	}
	return distinct(out)
}

// board is what the tests read of a dashboard.
type board struct {
	Title      string
	Templating struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
	Panels []struct {
		Title   string
		Targets []struct {
			Expr    string
			Instant bool
		}
		FieldConfig struct {
			Defaults struct {
				Links []struct{ Title, URL string }
			}
		} `json:"fieldConfig"`
	}
}

// boards are the dashboards as they are committed, and so as Grafana gets them.
func boards(t *testing.T) []board {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "grafana", "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := make([]board, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &out[i]))
	}
	return out
}

// filled is a query with its variables filled in, as Grafana does.
// The tool is one that collectors with such names have seen.
func filled(expression string, names dashboards.NameOption) string {
	tool, contract := "find_account", "account"
	if names.Text == "with unit and type" {
		tool, contract = "search_customer", "customer"
	}
	return strings.NewReplacer(
		"${names:raw}", names.Value,
		"$__rate_interval", "10s",
		"$__range", "60s",
		"$job", ".+",
		"$protocol", ".+",
		"$tool", tool,
		"$contract", contract,
	).Replace(expression)
}

func (f *fleet) testPanels(t *testing.T) {
	queries := 0
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			for i, target := range p.Targets {
				for _, names := range dashboards.NameOptions {
					step := 5 * time.Second
					if target.Instant {
						step = 0
					}
					expression := filled(target.Expr, names)
					require.NotEmpty(t, f.query(t, expression, step), "%s: %s, query %d, names %s: %s", b.Title, p.Title, i, names.Text, expression)
					queries++
				}
			}
		}
	}
	t.Logf("%d queries of panels gave data", queries)
}

var labelValues = regexp.MustCompile(`^label_values\((.+), ([a-z_]+)\)$`)

func (f *fleet) testVariables(t *testing.T) {
	asked := 0
	for _, b := range boards(t) {
		for _, v := range b.Templating.List {
			if v.Type != "query" {
				continue
			}
			m := labelValues.FindStringSubmatch(v.Query.(string))
			require.NotNil(t, m, v.Query)
			require.NotEmpty(t, f.query(t, "group by ("+m[2]+") ("+filled(m[1], dashboards.NameOptions[0])+")", 0), "%s: %s", b.Title, v.Name)
			asked++
		}
	}
	require.NotZero(t, asked)
}

var (
	metricName = regexp.MustCompile(`\b(otelcol|traces_span_metrics|resultseal:)[a-z0-9_:]+`)
	suffix     = regexp.MustCompile(`(_total|_bytes|_seconds)?(_bucket)?$`)
)

// A metric that was renamed would leave a panel empty, or an alert silent, and
// nobody would be told.
func (f *fleet) testNames(t *testing.T) {
	var answer struct{ Data []string }
	getJSON(t, page(f.prometheus, "/api/v1/label/__name__/values"), &answer)
	there := map[string]bool{}
	for _, name := range answer.Data {
		there[suffix.ReplaceAllString(name, "")] = true
	}
	named := map[string]string{}
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			for _, target := range p.Targets {
				text := filled(target.Expr, dashboards.NameOption{})
				text = strings.NewReplacer("(_seconds)?", "", "(_total)?", "").Replace(text)
				for _, name := range metricName.FindAllString(text, -1) {
					named[name] = b.Title + ": " + p.Title
				}
			}
		}
	}
	rules, err := filepath.Glob(filepath.Join(top, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	for _, path := range rules {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "_url:") {
				continue
			}
			for _, name := range metricName.FindAllString(line, -1) {
				named[name] = filepath.Base(path)
			}
		}
	}
	require.Greater(t, len(named), 30)
	for name, where := range named {
		require.True(t, there[suffix.ReplaceAllString(name, "")], "%s names %s, which no scrape has", where, name)
	}
}

// A duration's exemplar is the id of a trace, so that a panel can lead to it.
func (f *fleet) testExemplars(t *testing.T) {
	parameters := url.Values{
		"query": {`traces_span_metrics_duration_seconds_bucket{resultseal_decision="blocked"}`},
		"start": {fmt.Sprint(time.Now().Add(-5 * time.Minute).Unix())},
		"end":   {fmt.Sprint(time.Now().Unix())},
	}
	var answer struct {
		Data []struct {
			Exemplars []struct{ Labels map[string]string }
		}
	}
	getJSON(t, page(f.prometheus, "/api/v1/query_exemplars?"+parameters.Encode()), &answer)
	found := 0
	for _, series := range answer.Data {
		for _, e := range series.Exemplars {
			require.Len(t, e.Labels["trace_id"], 32)
			found++
		}
	}
	require.NotZero(t, found)
}

// Every session that broke a protocol, had something blocked or is unjudged is
// there, with all of its spans. Of the others there is a share: nothing of the recordings,
// which were sampled at 0 %, and about a tenth of the load.
func (f *fleet) testSampling(t *testing.T) {
	got := f.relay.got()
	kept := 0
	for id, run := range f.recorded {
		if run.kept() {
			kept++
			require.Equal(t, run.trace.SpanCount(), got[id], "%v of %s, %s", id, run.service, run.compliance)
		} else {
			require.Zero(t, got[id], "%v of %s, %s", id, run.service, run.compliance)
		}
	}
	require.NotZero(t, kept)
	for id := range f.broken {
		require.Equal(t, 5, got[id])
	}
	share := 0
	for id := range f.healthy {
		if got[id] > 0 {
			require.Equal(t, 4, got[id])
			share++
		}
	}
	t.Logf("kept %d of %d recorded runs, all %d of the load with something blocked, %d of its %d others", kept, len(f.recorded), len(f.broken), share, len(f.healthy))
	require.Greater(t, share, 0)
	require.Less(t, share, len(f.healthy)/3)
}

// search asks Jaeger as its page does.
func (f *fleet) search(t *testing.T, service string, tags map[string]string) map[string]bool {
	t.Helper()
	encoded, err := json.Marshal(tags)
	require.NoError(t, err)
	now := time.Now()
	parameters := url.Values{
		"service": {service}, "tags": {string(encoded)}, "limit": {"5000"},
		"start": {fmt.Sprint(now.Add(-time.Hour).UnixMicro())}, "end": {fmt.Sprint(now.UnixMicro())},
	}
	status, body, err := get(t, page(f.jaeger, "/api/traces?"+parameters.Encode()))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "%s", body)
	var answer struct {
		Data []struct {
			TraceID string `json:"traceID"`
		}
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	out := map[string]bool{}
	for _, trace := range answer.Data {
		out[trace.TraceID] = true
	}
	return out
}

// The searches of docs/backends.md, and those behind the panels' links.
func (f *fleet) testJaeger(t *testing.T) {
	if f.jaeger == 0 {
		t.Skip("there is no Jaeger")
	}
	services := map[string]bool{"load-agent": true}
	for _, run := range f.recorded {
		services[run.service] = true
	}
	expected := func(service string, wanted func(recordedRun) bool) map[string]bool {
		out := map[string]bool{}
		for id, run := range f.recorded {
			if run.service == service && run.kept() && wanted(run) {
				out[id.String()] = true
			}
		}
		return out
	}
	for _, compliance := range []string{"violation", "unjudged", "compliant", "unrecognized", "incomplete", "inconclusive"} {
		for service := range services {
			if service == "load-agent" {
				continue // it is sampled by chance
			}
			want := expected(service, func(run recordedRun) bool { return run.compliance == compliance })
			require.Equal(t, want, f.search(t, service, map[string]string{"resultseal.session.compliance": compliance}), "%s of %s", compliance, service)
		}
	}
	ids := func(of map[pcommon.TraceID]bool) map[string]bool {
		out := map[string]bool{}
		for id := range of {
			out[id.String()] = true
		}
		return out
	}
	require.Equal(t, ids(f.broken), f.search(t, "load-agent", map[string]string{"resultseal.truth_state": "empty", "resultseal.contract": "account"}))
	require.Equal(t, ids(f.broken), f.search(t, "load-agent", map[string]string{"resultseal.reason_codes": `["RESULT_NOT_CAPTURED"]`}))

	// What the page says can be searched finds something, but for what none of
	// these agents did.
	text, err := os.ReadFile(filepath.Join(top, "docs", "backends.md"))
	require.NoError(t, err)
	searches := regexp.MustCompile("(?m)^\\| `(resultseal\\.[^`]+)` \\|").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(searches), 5)
	for _, m := range searches {
		found := 0
		for service := range services {
			found += len(f.search(t, service, pairs(t, m[1])))
		}
		if slices.Contains([]string{"resultseal.session.compliance=inconclusive", "resultseal.session.finalized_by=idle"}, m[1]) {
			continue
		}
		require.NotZero(t, found, m[1])
	}

	links := 0
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			for _, l := range p.FieldConfig.Defaults.Links {
				if !strings.HasSuffix(l.Title, "in Jaeger") {
					continue
				}
				links++
				service, tags := f.followed(t, l.URL)
				require.NotEmpty(t, f.search(t, service, tags), "%s: %s: %s", b.Title, p.Title, l.Title)
			}
		}
	}
	require.NotZero(t, links)
}

// followed returns the search behind a link of a panel: on a series of a blocked result
// of the load, or of a recorded session with the compliance that the link names, which
// is violation where the series names it.
func (f *fleet) followed(t *testing.T, link string) (service string, tags map[string]string) {
	t.Helper()
	service = "load-agent"
	if strings.Contains(link, "compliance") {
		compliance := "violation"
		if strings.Contains(link, "unjudged") {
			compliance = "unjudged"
		}
		services := map[string]bool{}
		for _, run := range f.recorded {
			if run.compliance == compliance {
				services[run.service] = true
			}
		}
		require.NotEmpty(t, services, "no recorded session is %s", compliance)
		service = slices.Min(slices.Collect(maps.Keys(services)))
	}
	link = strings.NewReplacer(
		"${service}", service,
		"${__field.labels.compliance}", "violation",
		"${__field.labels.tool}", "find_account",
		"${__field.labels.contract}", "account",
		"${__field.labels.truth_state}", "empty",
		"${jaeger}", "jaeger", "${__from}", "0", "${__to}", "0",
	).Replace(link)
	address, err := url.Parse(link)
	require.NoError(t, err)
	var panes map[string]struct {
		Queries []struct{ Service, Tags string }
	}
	require.NoError(t, json.Unmarshal([]byte(address.Query().Get("panes")), &panes), link)
	return panes["a"].Queries[0].Service, pairs(t, panes["a"].Queries[0].Tags)
}

// pairs reads a search as it is typed into Jaeger's page.
func pairs(t *testing.T, text string) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for _, pair := range strings.Fields(text) {
		key, value, ok := strings.Cut(pair, "=")
		require.True(t, ok, pair)
		tags[key] = value
	}
	return tags
}
