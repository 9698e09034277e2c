// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// tag is how the dashboards are found among others.
const tag = "resultseal"

// description is one dashboard before it is built.
type description struct {
	file, uid, title, text string
	variables              []cog.Builder[dashboard.VariableModel]
	rows                   []row
}

type row struct {
	title  string
	panels []panel
}

// File is a dashboard as Grafana reads it.
type File struct {
	Name string
	JSON []byte
}

// All builds the dashboards. The same code gives the same bytes.
func All() ([]File, error) {
	var out []File
	for _, d := range []description{agents(), tools(), processor()} {
		text, err := d.build()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", d.title, err)
		}
		out = append(out, File{Name: d.file, JSON: text})
	}
	return out, nil
}

func (d description) build() ([]byte, error) {
	//lint:ignore SA1019 files of this form are read by every Grafana since 10; those of the new one only by 12
	b := dashboard.NewDashboardBuilder(d.title).
		Uid(d.uid).
		Description(d.text).
		Tags([]string{tag}).
		Refresh("30s").
		Time("now-3h", "now").
		Timezone(common.TimeZoneBrowser).
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Link(others())
	for _, v := range append(commonVariables(), d.variables...) {
		b = b.WithVariable(v)
	}
	for _, r := range d.rows {
		b = b.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			b = b.WithPanel(p.build())
		}
	}
	built, err := b.Build()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(built); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
