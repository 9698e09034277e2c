// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// violations finds the sessions that broke a protocol.
var violations = attribute{"resultseal.session.compliance", "violation"}

// uncaptured are the reasons that say something about the instrumentation and
// nothing about the tool.
const uncaptured = `reason_code=~"RESULT_NOT_CAPTURED|RESULT_TRUNCATED|ARGUMENTS_NOT_CAPTURED"`

// Sessions and verdicts are judged in the light of these.
var (
	violationSteps  = []dashboard.Threshold{base("green"), step(0.001, "orange"), step(0.05, "red")}
	sealSteps       = []dashboard.Threshold{base("red"), step(0.5, "orange"), step(0.9, "green")}
	uncapturedSteps = []dashboard.Threshold{base("green"), step(0.02, "orange"), step(0.1, "red")}
)

func agents() description {
	tool := `tool!=""`
	byProtocol := `protocol=~"$protocol"`
	without := sum(over(own("uncontracted_calls")))
	return description{
		file:  "agents.json",
		uid:   "resultseal-agents",
		title: "ResultSeal / Agents",
		text:  "Whether agents keep to their protocols, and whether what their tools return proves what is claimed from it.",
		variables: append(traceVariables(),
			labelVariable("protocol", "Protocol", "label_values("+own("protocol_verdicts")+", protocol)").
				Multi(true).IncludeAll(true).AllValue(".+").Current(option("All", "$__all"))),
		rows: []row{
			{"Now", []panel{
				{
					title: "Sessions", description: "Sessions that were finished in the time that the dashboard shows.",
					form: number, unit: "short", width: 3, height: 4,
					queries: []query{{sum(over(own("sessions"))), "sessions"}},
				},
				{
					title: "Broke a protocol", description: "The share of sessions that no missing span could explain: an agent did what it may not do.",
					form: number, unit: "percentunit", width: 4, height: 4, thresholds: violationSteps,
					queries: []query{{share(over, own("sessions", `compliance="violation"`), own("sessions")), "violation"}},
					links:   traces("Violations", violations),
				},
				{
					title: "Compliant", description: "The share of sessions that kept to all of their protocols. The rest are not all wrong: see the next row.",
					form: number, unit: "percentunit", width: 4, height: 4,
					queries: []query{{share(over, own("sessions", `compliance="compliant"`), own("sessions")), "compliant"}},
				},
				{
					title: "Unjudged", description: "The share of sessions in which no event of a protocol occurred, so that no protocol was evaluated. Under a policy without protocols, all are.",
					form: number, unit: "percentunit", width: 4, height: 4,
					queries: []query{{share(over, own("sessions", `compliance="unjudged"`), own("sessions")), "unjudged"}},
					links:   traces("Unjudged sessions", attribute{violations.key, "unjudged"}),
				},
				{
					title: "Sealed", description: "The share of tool results under a contract that prove what is claimed from them.",
					form: number, unit: "percentunit", width: 3, height: 4, thresholds: sealSteps,
					queries: []query{{share(over, own("observations", `decision="sealed"`), own("observations")), "sealed"}},
				},
				{
					title: "Not captured", description: "The share of tool results that were blocked only because the telemetry does not hold them. It says something about the instrumentation, not about the tools.",
					form: number, unit: "percentunit", width: 3, height: 4, thresholds: uncapturedSteps,
					queries: []query{{"(" + sum(over(own("reasons", uncaptured))) + " or 0 * " + sum(over(own("observations"))) + ") / (" + sum(over(own("observations"))) + " > 0)", "not captured"}},
				},
				{
					title: "No contract", description: "The share of tool calls that no contract matched. Their results are not judged.",
					form: number, unit: "percentunit", width: 3, height: 4,
					queries: []query{{without + " / ((" + without + " + (" + sum(over(own("observations"))) + " or 0 * " + without + ")) > 0)", "no contract"}},
				},
			}},
			{"Protocols", []panel{
				{
					title: "Sessions by compliance", description: "Finished sessions per second. A session is as bad as the worst of its protocols.",
					form: stacked, unit: "ops", width: 12, height: 9, colors: complianceColors,
					queries: []query{{sum(rate(own("sessions")), "compliance"), "{{compliance}}"}},
					links:   traces("Sessions like this", attribute{violations.key, fieldLabel("compliance")}),
				},
				{
					title: "Violation rate by protocol", description: "Of the sessions that a protocol followed, the share that broke it.",
					form: lines, unit: "percentunit", width: 12, height: 9, thresholds: violationSteps,
					queries: []query{{share(rate, own("protocol_verdicts", `verdict="violation"`, byProtocol), own("protocol_verdicts", byProtocol), "protocol"), "{{protocol}}"}},
					links:   traces("Violations", violations),
				},
				{
					title: "Verdicts by protocol", description: "How many sessions each protocol gave each verdict, in the time that the dashboard shows. A protocol with no bar but zeros has followed nothing.",
					form: bars, unit: "short", width: 24, height: 8,
					queries: []query{{"sort_desc(" + sum(over(own("protocol_verdicts", byProtocol)), "protocol", "verdict") + ")", "{{protocol}} {{verdict}}"}},
				},
			}},
			{"Facts", []panel{
				{
					title: "Seal rate by tool", description: "Of a tool's results under a contract, the share that was sealed.",
					form: lines, unit: "percentunit", width: 12, height: 9, largest: 1, thresholds: sealSteps,
					queries: []query{{share(rate, own("observations", `decision="sealed"`, tool), own("observations", tool), "tool"), "{{tool}}"}},
					links: append(traces("What was blocked", attribute{"gen_ai.tool.name", fieldLabel("tool")}, attribute{"resultseal.decision", "blocked"}),
						link("This tool", "/d/resultseal-tools?var-tool="+fieldLabel("tool")+"&${__url_time_range}")),
				},
				{
					title: "Top reasons", description: "Why results were blocked, in the time that the dashboard shows. One result may have several reasons.",
					form: bars, unit: "short", width: 12, height: 9,
					queries: []query{{"topk(10, " + sum(over(own("reasons", `reason_code!="SEALED_WITH_REQUIRED_EVIDENCE"`)), "reason_code") + ")", "{{reason_code}}"}},
				},
				{
					title: "Not captured", description: "Results that were blocked for want of content, of all results. Turn on the recording of arguments and results in the instrumentation.",
					form: lines, unit: "percentunit", width: 12, height: 8, thresholds: uncapturedSteps,
					queries: []query{{"(" + sum(rate(own("reasons", uncaptured)), "reason_code") + " or 0 * " + sum(rate(own("reasons")), "reason_code") + ") / on() group_left() (" + sum(rate(own("observations"))) + " > 0)", "{{reason_code}}"}},
				},
				{
					title: "Calls without a contract", description: "Tool calls per second that no contract matched, beside those that one did. What is not under a contract is not judged.",
					form: stacked, unit: "ops", width: 12, height: 8,
					queries: []query{
						{sum(rate(own("uncontracted_calls"))), "without a contract"},
						{sum(rate(own("observations"))), "under a contract"},
					},
				},
			}},
		},
	}
}
