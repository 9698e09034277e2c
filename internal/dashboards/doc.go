// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package dashboards makes the Grafana dashboards of deploy/grafana/dashboards:
//
//   - Agents: do agents keep to their protocols, do tools prove what they say.
//   - Tools: one tool's truth over time.
//   - Processor: does the processor itself keep up.
//
// They are code so that each query is written once and can be run: a panel is a
// row of a table (agents.go, tools.go, processor.go), panel.go draws it, and
// query.go writes its selectors. The JSON is generated and committed:
//
//	make dashboards
//
// A metric may be spelled in two ways, as the collector's telemetry is set up:
// otelcol_processor_resultseal_observations, or with unit and type behind it,
// otelcol_processor_resultseal_observations_total. Queries match the name with a
// regular expression whose end is the dashboard variable names; NameOptions are
// its values.
//
// Panels that show something wrong link to the traces behind it, in Jaeger and
// in Tempo (links.go).
package dashboards

//go:generate go run ./generate ../../deploy/grafana/dashboards
