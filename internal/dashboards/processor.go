// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

func processor() description {
	lost := []dashboard.Threshold{base("green"), step(1, "red")}
	odd := []dashboard.Threshold{base("green"), step(1, "orange")}
	return description{
		file:  "processor.json",
		uid:   "resultseal-processor",
		title: "ResultSeal / Processor",
		text:  "Whether the processor keeps up: what it holds, why it lets traces go, what comes late, what is lost.",
		rows: []row{
			{"Lost or unsure", []panel{
				{
					title: "Spans lost", description: "Spans that were lost after their sender was told that they arrived, in the time that the dashboard shows: refused by what follows the processor, without a place in the queue to a backend, or given up after all retries.",
					form: number, unit: "short", width: 6, height: 4, thresholds: lost,
					queries: []query{
						{sum(over(own("refused_spans"))), "refused"},
						{sum(over(collector("exporter_enqueue_failed_spans"))) + " or 0 * " + sum(own("refused_spans")), "no place"},
						{sum(over(collector("exporter_send_failed_spans"))) + " or 0 * " + sum(own("refused_spans")), "given up"},
					},
				},
				{
					title: "Traces without a verdict", description: "Traces that were passed on unjudged because judging them failed: a mistake in the processor.",
					form: number, unit: "short", width: 6, height: 4, thresholds: lost,
					queries: []query{{sum(over(own("unscored_traces"))), "unjudged"}},
				},
				{
					title: "Traces cut short", description: "Traces that were judged before they were whole, because too much was held.",
					form: number, unit: "short", width: 6, height: 4, thresholds: odd,
					queries: []query{{sum(over(own("sessions", `finalized_by=~"overflow|oversize"`))) + " or 0 * " + sum(own("sessions")), "cut short"}},
				},
				{
					title: "Late spans", description: "Spans that came after their trace was judged.",
					form: number, unit: "short", width: 6, height: 4, thresholds: odd,
					queries: []query{{sum(over(own("late_spans"))), "late"}},
				},
			}},
			{"Held", []panel{
				{
					title: "Traces held", description: "Traces that wait to be finished. Near max_traces, 50,000 unless set, the oldest are judged early.",
					form: lines, unit: "short", width: 8, height: 8,
					queries: []query{{sum(gauge(ownPrefix+"traces_active"), "instance"), "{{instance}}"}},
				},
				{
					title: "Bytes held", description: "The memory of buffered spans and of the states of conversations, estimated. The lines are three quarters of max_bytes and max_bytes, unless that is set otherwise.",
					form: lines, unit: "bytes", width: 8, height: 8,
					thresholds: []dashboard.Threshold{base("green"), step(0.75*268435456, "orange"), step(268435456, "red")},
					queries:    []query{{sum(own("bytes_active"), "instance"), "{{instance}}"}},
				},
				{
					title: "Conversations held", description: "Conversations whose state is kept for their next trace.",
					form: lines, unit: "short", width: 8, height: 8,
					queries: []query{{sum(gauge(ownPrefix+"sessions_active"), "instance"), "{{instance}}"}},
				},
			}},
			{"Finished", []panel{
				{
					title: "What finished traces", description: "root is the way it should be. idle: no root came. max_age: the trace ran longer than max_age. overflow and oversize: too much was held. shutdown: the collector ended.",
					form: stacked, unit: "ops", width: 12, height: 9,
					colors:  map[string]string{"root": "#56B4E9", "idle": "#0072B2", "max_age": "#E69F00", "overflow": "#D55E00", "oversize": "#D55E00", "shutdown": "#999999"},
					queries: []query{{sum(rate(own("sessions")), "finalized_by"), "{{finalized_by}}"}},
				},
				{
					title: "Time to judge a trace", description: "How long decoding, judging and annotating one finished trace takes.",
					form: lines, unit: "s", width: 12, height: 9,
					queries: []query{
						{quantile("0.5", bucket("score_duration")), "median"},
						{quantile("0.95", bucket("score_duration")), "95 %"},
						{quantile("0.99", bucket("score_duration")), "99 %"},
					},
				},
				{
					title: "Late, doubled, offered again", description: "Spans per second that came after their trace was judged, and spans that came twice; traces per second that the next component refused for the moment, and that were offered to it again.",
					form: lines, unit: "ops", width: 6, height: 8,
					queries: []query{
						{sum(rate(own("late_spans"))), "late"},
						{sum(rate(own("duplicate_spans"))), "doubled"},
						{sum(rate(own("retries"))), "offered again"},
					},
				},
				{
					title: "Conversations given up", description: "Conversations per second whose state was let go. After session_ttl that is as it should be; at max_sessions or max_bytes it is too early.",
					form: lines, unit: "ops", width: 6, height: 8,
					queries: []query{{sum(rate(own("sessions_forgotten")), "cause"), "{{cause}}"}},
				},
				{
					title: "Storage failures", description: "Operations per second that the storage failed. append: a batch was refused, and its sender has it. acknowledge: traces that were forwarded may be forwarded again after a restart. read: damaged values were set aside. Without a storage there are none.",
					form: lines, unit: "ops", width: 6, height: 8,
					queries: []query{{sum(rate(own("storage_failures")), "operation") + " or 0 * " + sum(rate(own("retries"))), "{{operation}}"}},
				},
				{
					title: "Policy reloads", description: "Times per minute that policy_file had changed or could no longer be read. applied: a new policy is in force. invalid and unreadable: the policy in force stays. Without policy_file there are none.",
					form: lines, unit: "short", width: 6, height: 8,
					queries: []query{{"60 * " + sum(rate(own("policy_reloads")), "outcome") + " or 0 * " + sum(rate(own("retries"))), "{{outcome}}"}},
				},
			}},
			{"The collector around it", []panel{
				{
					title: "Spans in", description: "Spans per second that receivers took, and that they refused: their senders still have those.",
					form: lines, unit: "ops", width: 8, height: 8,
					queries: []query{
						{sum(rate(collector("receiver_accepted_spans"))), "accepted"},
						{sum(rate(collector("receiver_refused_spans"))), "refused"},
					},
				},
				{
					title: "Export queue", description: "How full the queue to each backend is. What does not fit is lost.",
					form: lines, unit: "percentunit", width: 8, height: 8, largest: 1,
					thresholds: []dashboard.Threshold{base("green"), step(0.8, "red")},
					queries:    []query{{gauge("otelcol_exporter_queue_size") + " / " + gauge("otelcol_exporter_queue_capacity"), "{{instance}} {{exporter}}"}},
				},
				{
					title: "Memory", description: "Resident memory of each collector.",
					form: lines, unit: "bytes", width: 8, height: 8,
					queries: []query{{sum(collector("process_memory_rss"), "instance"), "{{instance}}"}},
				},
			}},
		},
	}
}
