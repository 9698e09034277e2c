// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// attribute is what a trace is searched by: one span must have all of them.
type attribute struct{ key, value string }

// A field's own label as a value, where a link stands on a series.
func fieldLabel(name string) string { return "${__field.labels." + name + "}" }

// traces links to the traces that have a span with these attributes.
func traces(what string, attributes ...attribute) []cog.Builder[dashboard.DashboardLink] {
	var tags, conditions []string
	for _, a := range attributes {
		tags = append(tags, a.key+"="+a.value)
		conditions = append(conditions, "span."+a.key+` = "`+a.value+`"`)
	}
	return []cog.Builder[dashboard.DashboardLink]{
		link(what+" in Jaeger", explore("${jaeger}", map[string]any{
			"refId": "A", "queryType": "search", "service": "${service}", "tags": strings.Join(tags, " "), "limit": 100,
		})),
		link(what+" in Tempo", explore("${tempo}", map[string]any{
			"refId": "A", "queryType": "traceql", "query": "{ " + strings.Join(conditions, " && ") + " }", "limit": 100,
		})),
	}
}

func link(title, target string) *dashboard.DashboardLinkBuilder {
	return dashboard.NewDashboardLinkBuilder(title).Url(target).TargetBlank(true)
}

// explore is Grafana's page of ad-hoc queries, on one data source, over the
// dashboard's time range.
func explore(source string, query map[string]any) string {
	query["datasource"] = map[string]string{"uid": source}
	panes, err := json.Marshal(map[string]any{"a": map[string]any{
		"datasource": source,
		"queries":    []any{query},
		"range":      map[string]string{"from": "${__from}", "to": "${__to}"},
	}})
	if err != nil {
		panic(err) // strings and maps of strings
	}
	return "/explore?schemaVersion=1&panes=" + escape(string(panes))
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// escape escapes a query parameter, but for the variables in it: Grafana finds
// them only as they are written. In a link it escapes their values itself.
func escape(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range variable.FindAllStringIndex(text, -1) {
		out.WriteString(url.QueryEscape(text[end:at[0]]))
		out.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	out.WriteString(url.QueryEscape(text[end:]))
	return out.String()
}

// traceVariables are what links to traces need.
func traceVariables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		labelVariable("service", "Service", "label_values("+spans("calls(_total)?")+", service_name)").
			Description("Where a link to Jaeger searches, which needs a service. Panels are not narrowed by it: what the processor counts has no service."),
		dashboard.NewDatasourceVariableBuilder("jaeger").Label("Jaeger").Type("jaeger").
			Description("Where links to Jaeger lead."),
		dashboard.NewDatasourceVariableBuilder("tempo").Label("Tempo").Type("tempo").
			Description("Where links to Tempo lead. Empty if you have none."),
	}
}

// others links the dashboards with each other.
func others() cog.Builder[dashboard.DashboardLink] {
	return dashboard.NewDashboardLinkBuilder("ResultSeal").
		Type(dashboard.DashboardLinkTypeDashboards).
		Tags([]string{tag}).
		AsDropdown(true).
		IncludeVars(true).
		KeepTime(true)
}
