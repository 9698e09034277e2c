// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// form is how a panel draws its queries.
type form int

const (
	lines   form = iota // over time
	stacked             // over time, one upon the other
	number              // one value, over the dashboard's range
	bars                // one bar for each series, over the dashboard's range
)

// panel is what a dashboard's table says of one panel.
type panel struct {
	title, description string
	form               form
	unit               string // Grafana's name of it
	width, height      uint32 // in Grafana's grid, which is 24 wide
	queries            []query
	thresholds         []dashboard.Threshold
	largest            float64 // end of the axis; 0 if it follows the data
	colors             map[string]string
	links              []cog.Builder[dashboard.DashboardLink]
	// exemplars shows single traces on the panel, where the metric has them.
	exemplars bool
}

type query struct{ expression, legend string }

// step begins a colour at a value.
func step(value float64, color string) dashboard.Threshold {
	return dashboard.Threshold{Value: &value, Color: color}
}

func base(color string) dashboard.Threshold { return dashboard.Threshold{Color: color} }

func prometheusSource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

// Colours that mean something stay the same on every panel. They can be told
// apart by people who do not see red and green, and each series has its name
// beside it.
var (
	complianceColors = map[string]string{
		"unjudged": "#999999", "compliant": "#56B4E9", "incomplete": "#0072B2", "unrecognized": "#CC79A7",
		"inconclusive": "#E69F00", "violation": "#D55E00",
	}
	decisionColors = map[string]string{"sealed": "#56B4E9", "blocked": "#D55E00"}
)

func (p panel) targets() []cog.Builder[variants.Dataquery] {
	out := make([]cog.Builder[variants.Dataquery], len(p.queries))
	for i, q := range p.queries {
		target := prometheus.NewDataqueryBuilder().
			Datasource(prometheusSource()).
			EditorMode(prometheus.QueryEditorModeCode).
			Expr(q.expression).
			LegendFormat(q.legend).
			RefId(string(rune('A' + i)))
		if p.form == number || p.form == bars {
			target = target.Instant()
		} else {
			target = target.Range()
		}
		out[i] = target.Exemplar(p.exemplars)
	}
	return out
}

func (p panel) steps() *dashboard.ThresholdsConfigBuilder {
	steps := p.thresholds
	if steps == nil {
		steps = []dashboard.Threshold{base("text")}
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

// build draws a panel.
func (p panel) build() cog.Builder[dashboard.Panel] {
	switch p.form {
	case number:
		b := stat.NewPanelBuilder().
			Title(p.title).Description(p.description).Datasource(prometheusSource()).
			Span(p.width).Height(p.height).Unit(p.unit).Targets(p.targets()).
			Thresholds(p.steps()).DataLinks(p.links).NoValue("none yet").
			GraphMode(common.BigValueGraphModeNone).
			ColorMode(common.BigValueColorModeValue).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
		return b
	case bars:
		b := bargauge.NewPanelBuilder().
			Title(p.title).Description(p.description).Datasource(prometheusSource()).
			Span(p.width).Height(p.height).Unit(p.unit).Min(0).Targets(p.targets()).
			Thresholds(p.steps()).DataLinks(p.links).NoValue("none yet").
			Orientation(common.VizOrientationHorizontal).
			DisplayMode(common.BarGaugeDisplayModeBasic).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
		if p.largest != 0 {
			b = b.Max(p.largest)
		}
		return b
	case lines, stacked:
		return p.timeSeries()
	}
	panic(fmt.Sprintf("no such form: %d", p.form))
}

func (p panel) timeSeries() cog.Builder[dashboard.Panel] {
	b := timeseries.NewPanelBuilder().
		Title(p.title).Description(p.description).Datasource(prometheusSource()).
		Span(p.width).Height(p.height).Unit(p.unit).Min(0).Targets(p.targets()).
		Thresholds(p.steps()).DataLinks(p.links).NoValue("none yet").
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassic)).
		LineWidth(2).
		FillOpacity(10).
		ShowPoints(common.VisibilityModeAuto).
		Legend(common.NewVizLegendOptionsBuilder().
			DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).
			ShowLegend(true).
			Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().
			Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending))
	if p.form == stacked {
		b = b.FillOpacity(50).LineWidth(1).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	if p.largest != 0 {
		b = b.Max(p.largest)
	}
	if p.thresholds != nil {
		b = b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	names := make([]string, 0, len(p.colors))
	for name := range p.colors {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		// A series' name may say more than the word that has the colour.
		b = b.OverrideByRegexp(`/(^|\s)`+name+`$/`, []dashboard.DynamicConfigValue{
			{Id: "color", Value: map[string]string{"mode": "fixed", "fixedColor": p.colors[name]}},
		})
	}
	return b
}
