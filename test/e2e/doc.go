// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e proves what an on-call person relies on, against the programs that
// they would look at: the configurations, rules and dashboards of deploy/ are run
// with the built distribution, Prometheus, Alertmanager and Jaeger.
//
//	make e2e
//
// Plain go test skips all of it. What is not installed is skipped with a message:
//
//   - RESULTSEAL_E2E=1 asks for these tests.
//   - RESULTSEAL_DISTRIBUTION is the collector, by default dist/otelcol-resultseal.
//   - prometheus, promtool and alertmanager (on Debian prometheus-alertmanager)
//     are found on the PATH: apt-get install prometheus prometheus-alertmanager.
//   - RESULTSEAL_JAEGER is Jaeger, by default dist/jaeger, which make jaeger
//     builds; the first time takes minutes.
//   - RESULTSEAL_SHARED is the folder of recordings that are not part of the
//     repository.
//   - node and npm run the agent of examples/agent-js.
//
// TestOnCall is the large one. A fleet of collectors with the recommended
// configuration takes recorded runs and made-up ones; one of them loses its
// backend, one holds too little, one dies. Rules have their windows and waits
// shortened (overlay_test.go), and nothing else. Then each panel's query must
// give data, the alerts that fire must be exactly those that should, and
// Jaeger's searches must find exactly the traces that they should.
//
// Reading order: fleet_test.go is the scenario, oncall_test.go what is asked of
// it; recordings_test.go and load_test.go are the traces; process_test.go,
// backends_test.go and relay_test.go start programs and stand in for some.
package e2e
