// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// NameOption is one value of the variable names.
type NameOption struct{ Text, Value string }

// NameOptions are the spellings of metric names that a dashboard can be set to:
// what may stand between a metric's name and _bucket, as a regular expression.
// The first matches either, which is right unless one collector's metrics reach
// Prometheus in both spellings.
var NameOptions = []NameOption{
	{"either", "(_total|_bytes|_seconds)?"},
	{"plain", "()"},
	{"with unit and type", "(_total|_bytes|_seconds)"},
}

// NameVariable is how a query refers to the chosen spelling.
const NameVariable = "${names:raw}"

const (
	ownPrefix  = "otelcol_processor_resultseal_"
	spanPrefix = "traces_span_metrics_"
)

// own selects one of the processor's metrics whose name may have unit or type
// behind it.
func own(name string, matchers ...string) string {
	return spelled(ownPrefix+name+NameVariable, matchers)
}

// gauge selects one of the collector's metrics that has one spelling only: the
// unit is a thing that is counted, and the type has no suffix.
func gauge(name string, matchers ...string) string {
	return name + "{" + strings.Join(append([]string{`job=~"$job"`}, matchers...), ", ") + "}"
}

// collector selects a metric of another part of the collector.
func collector(name string, matchers ...string) string {
	return spelled("otelcol_"+name+NameVariable, matchers)
}

// bucket selects the buckets of the histogram of score times.
func bucket(name string, matchers ...string) string {
	return spelled(ownPrefix+name+NameVariable+"_bucket", matchers)
}

func spelled(name string, matchers []string) string {
	all := append([]string{`__name__=~"` + name + `"`, `job=~"$job"`}, matchers...)
	return "{" + strings.Join(all, ", ") + "}"
}

// spans selects what span_metrics counted. Another job scrapes it, and another
// part of the collector spells it, so neither variable is about it.
func spans(name string, matchers ...string) string {
	all := append([]string{`__name__=~"` + spanPrefix + name + `"`}, matchers...)
	return "{" + strings.Join(all, ", ") + "}"
}

func rate(selector string) string { return "rate(" + selector + "[$__rate_interval])" }

// over is the increase over the dashboard's whole range. A series that began
// inside the range counts from zero, which increase would not do: the first
// violation of a protocol is the most interesting one.
func over(selector string) string {
	return "((" + selector + " unless " + selector + " offset $__range) or increase(" + selector + "[$__range]))"
}

func sum(expression string, by ...string) string {
	if len(by) == 0 {
		return "sum(" + expression + ")"
	}
	return "sum by (" + strings.Join(by, ", ") + ") (" + expression + ")"
}

// share divides a part by its whole. Where the whole is there and the part is
// not, it is zero; where nothing happened there is no value.
func share(of func(selector string) string, part, whole string, by ...string) string {
	all := sum(of(whole), by...)
	return "(" + sum(of(part), by...) + " or 0 * " + all + ") / (" + all + " > 0)"
}

func quantile(q, selector string, by ...string) string {
	return "histogram_quantile(" + q + ", " + sum(rate(selector), append(by, "le")...) + ")"
}

// variables of every dashboard.
func commonVariables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus"),
		namesVariable(),
		labelVariable("job", "Collectors", "label_values("+ownPrefix+"traces_active, job)").
			Description("The Prometheus jobs that scrape collectors with the processor.").
			Multi(true).IncludeAll(true).AllValue(".+").Current(option("All", "$__all")),
	}
}

func namesVariable() *dashboard.CustomVariableBuilder {
	texts := make([]string, len(NameOptions))
	options := make([]dashboard.VariableOption, len(NameOptions))
	for i, o := range NameOptions {
		texts[i] = o.Text + " : " + o.Value
		options[i] = option(o.Text, o.Value)
		options[i].Selected = cog.ToPtr(i == 0)
	}
	values := strings.Join(texts, ", ")
	return dashboard.NewCustomVariableBuilder("names").
		Label("Metric names").
		Description("How metric names are spelled: as the collector's telemetry has them by default, or with unit and type behind them. Choose one if a collector's metrics are there in both spellings.").
		Values(dashboard.StringOrMap{String: &values}).
		Options(options).
		Current(option(NameOptions[0].Text, NameOptions[0].Value)).
		AllowCustomValue(false)
}

// labelVariable is a variable whose values Prometheus has.
func labelVariable(name, label, query string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Datasource(prometheusSource()).
		Query(dashboard.StringOrMap{String: &query}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc)
}

func option(text, value string) dashboard.VariableOption {
	return dashboard.VariableOption{
		Text:  dashboard.StringOrArrayOfString{String: &text},
		Value: dashboard.StringOrArrayOfString{String: &value},
	}
}
