// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Prints what the collector wrote onto a trace:
//
//   node verdict.mjs TRACE_ID [annotated.jsonl]
//
// The last trace if there is no id. Ends with 1 if a protocol was broken.
import { readFileSync } from 'node:fs';

const [id, file = new URL('annotated.jsonl', import.meta.url)] = process.argv.slice(2);
const value = (v) => v.stringValue ?? v.arrayValue?.values?.map((e) => e.stringValue).join('; ') ?? Object.values(v)[0];
const spans = readFileSync(file, 'utf8')
  .split('\n')
  .filter(Boolean)
  .flatMap((line) => JSON.parse(line).resourceSpans)
  .flatMap((resource) => resource.scopeSpans)
  .flatMap((scope) => scope.spans)
  .map((span) => ({
    ...span,
    found: Object.fromEntries((span.attributes ?? []).map((a) => [a.key, value(a.value)])),
  }));
const trace = spans.filter((span) => span.traceId === (id ?? spans.at(-1)?.traceId));
const session = trace.find((span) => 'resultseal.session.compliance' in span.found)?.found;
if (!session) {
  console.error(`there is no verdict on ${id ?? 'any trace'} yet`);
  process.exit(2);
}
for (const { found } of trace.filter((span) => 'resultseal.decision' in span.found)) {
  console.log(`${found['resultseal.contract']}: ${found['resultseal.decision']}, ${found['resultseal.truth_state']} (${found['resultseal.reason_codes']})`);
}
console.log(`session: ${session['resultseal.session.compliance']}`);
if (session['resultseal.session.violations']) {
  console.log(`  ${session['resultseal.session.violations']}`);
}
process.exit(session['resultseal.session.compliance'] === 'violation' ? 1 : 0);
