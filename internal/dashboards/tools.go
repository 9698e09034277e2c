// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

func tools() description {
	tool := `tool="$tool"`
	contracts := `resultseal_contract=~"$contract"`
	blocked := traces("Traces", attribute{"resultseal.contract", fieldLabel("contract")}, attribute{"resultseal.truth_state", fieldLabel("truth_state")})
	// Metrics in milliseconds are left out: recommended.yaml has span_metrics
	// count in seconds.
	durations := func(decision string) string {
		return spans("duration(_seconds)?_bucket", contracts, `resultseal_decision="`+decision+`"`)
	}
	return description{
		file:  "tools.json",
		uid:   "resultseal-tools",
		title: "ResultSeal / Tools",
		text:  "What the results of one tool prove, over time.",
		variables: append(traceVariables(),
			labelVariable("tool", "Tool", "label_values("+own("observations", `tool!=""`)+", tool)"),
			labelVariable("contract", "Contracts", "label_values("+own("observations", tool)+", contract)").
				Description("The contracts that were applied to the tool.").
				Multi(true).IncludeAll(true).Current(option("All", "$__all"))),
		rows: []row{
			{"$tool", []panel{
				{
					title: "Results", description: "Results of the tool that a contract was applied to, in the time that the dashboard shows.",
					form: number, unit: "short", width: 6, height: 4,
					queries: []query{{sum(over(own("observations", tool))), "results"}},
				},
				{
					title: "Sealed", description: "The share of them that proves what is claimed from it.",
					form: number, unit: "percentunit", width: 6, height: 4, thresholds: sealSteps,
					queries: []query{{share(over, own("observations", tool, `decision="sealed"`), own("observations", tool)), "sealed"}},
				},
				{
					title: "Truth states", description: "What its results proved, in the time that the dashboard shows.",
					form: bars, unit: "short", width: 12, height: 4,
					queries: []query{{"sort_desc(" + sum(over(own("observations", tool)), "truth_state") + ")", "{{truth_state}}"}},
				},
				{
					title: "Truth states over time", description: "Results per second by contract and truth state.",
					form: stacked, unit: "ops", width: 24, height: 10,
					queries: []query{{sum(rate(own("observations", tool)), "contract", "truth_state"), "{{contract}} {{truth_state}}"}},
					links:   blocked,
				},
			}},
			{"What goes wrong unseen", []panel{
				{
					title: "Stale, or about something else", description: "Results per second that were too old, or from another source or about another thing than was asked for. Such results have status 200.",
					form: lines, unit: "ops", width: 12, height: 9,
					queries: []query{{
						"(" + sum(rate(own("observations", tool, `truth_state=~"stale|source_mismatch"`)), "contract", "truth_state") + ") or 0 * " + sum(rate(own("observations", tool)), "contract", "truth_state"),
						"{{contract}} {{truth_state}}",
					}},
					links: blocked,
				},
				{
					title: "Seal rate by contract", description: "Of the results that a contract was applied to, the share that was sealed.",
					form: lines, unit: "percentunit", width: 12, height: 9, largest: 1, thresholds: sealSteps,
					queries: []query{{share(rate, own("observations", tool, `decision="sealed"`), own("observations", tool), "contract"), "{{contract}}"}},
				},
			}},
			{"Time taken, as span_metrics saw it", []panel{
				{
					title: "Duration, sealed against blocked", description: "How long calls took whose result was sealed, and how long those whose result was blocked. A blocked result that comes fast is often a cache or an index that lags. Needs the dimension resultseal.decision of span_metrics.",
					form: lines, unit: "s", width: 12, height: 9, exemplars: true,
					colors: decisionColors,
					queries: []query{
						{quantile("0.5", durations("sealed")), "median sealed"},
						{quantile("0.95", durations("sealed")), "95 % sealed"},
						{quantile("0.5", durations("blocked")), "median blocked"},
						{quantile("0.95", durations("blocked")), "95 % blocked"},
					},
				},
				{
					title: "Calls by service and decision", description: "Calls per second of the tool's contracts by the service that made them.",
					form: stacked, unit: "ops", width: 12, height: 9, colors: decisionColors,
					queries: []query{{sum(rate(spans("calls(_total)?", contracts)), "service_name", "resultseal_decision"), "{{service_name}} {{resultseal_decision}}"}},
				},
			}},
		},
	}
}
