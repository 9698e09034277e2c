// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// A travel desk's agent, on the AI SDK with its own telemetry and a scripted
// model, so that no key and no network is needed. It can be told to misbehave:
//
//   node agent.mjs                       looks up, asks, cancels
//   node agent.mjs --skip-confirmation   looks up, cancels
//   node agent.mjs --empty-list          finds nothing, and says that it does not know
//   node agent.mjs --trust-empty-list    finds nothing, and books anew
//
// Spans go to OTEL_EXPORTER_OTLP_ENDPOINT, by default http://127.0.0.1:4318. The
// last line that is printed is the trace's id.
import { parseArgs } from 'node:util';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';

const { values: flags } = parseArgs({
  options: {
    'skip-confirmation': { type: 'boolean', default: false },
    'empty-list': { type: 'boolean', default: false },
    'trust-empty-list': { type: 'boolean', default: false },
  },
});

// The bookings' index. With either of the last two flags it lags: booking B-7 is
// there, but the search does not find it yet, and says so with an empty list.
const lagging = flags['empty-list'] || flags['trust-empty-list'];
const bookings = [{ booking_id: 'B-7', flight: 'DL317', status: 'confirmed' }];

const tools = {
  find_booking: tool({
    description: 'Find a booking by its id',
    inputSchema: z.object({ booking_id: z.string() }),
    execute: async ({ booking_id }) => (lagging ? [] : bookings.find((b) => b.booking_id === booking_id)),
  }),
  cancel_booking: tool({
    description: 'Cancel a booking',
    inputSchema: z.object({ booking_id: z.string() }),
    execute: async ({ booking_id }) => ({ booking_id, cancellation_id: 'C-1' }),
  }),
  create_booking: tool({
    description: 'Book a flight',
    inputSchema: z.object({ flight: z.string() }),
    execute: async ({ flight }) => ({ booking_id: 'B-8', flight }),
  }),
};

// What a model would decide, given what was said and what tools answered.
function decide(prompt) {
  const last = prompt.at(-1);
  if (last.role === 'user') {
    const text = last.content.map((part) => part.text ?? '').join(' ');
    return /^yes\b/i.test(text) ? call('cancel_booking', { booking_id: 'B-7' }) : call('find_booking', { booking_id: 'B-7' });
  }
  const { toolName, output } = last.content.find((part) => part.type === 'tool-result');
  if (toolName !== 'find_booking') {
    return say('Done.');
  }
  if (Array.isArray(output.value) && output.value.length === 0) {
    return flags['trust-empty-list']
      ? call('create_booking', { flight: 'DL317' })
      : say('I could not look the booking up just now.');
  }
  return flags['skip-confirmation']
    ? call('cancel_booking', { booking_id: 'B-7' })
    : say('B-7 is on flight DL317. Shall I cancel it?');
}

let calls = 0;
const call = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: `call-${++calls}`, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls' },
});
const say = (text) => ({ content: [{ type: 'text', text }], finishReason: { unified: 'stop' } });

const model = new MockLanguageModelV3({
  provider: 'scripted',
  modelId: 'travel-desk',
  doGenerate: async ({ prompt }) => ({
    ...decide(prompt),
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
    warnings: [],
  }),
});

const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'travel-desk' }),
  spanProcessors: [
    new BatchSpanProcessor(
      new OTLPTraceExporter({
        url: `${process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? 'http://127.0.0.1:4318'}/v1/traces`,
      }),
    ),
  ],
});
provider.register();

// One conversation is one trace: both turns lie under a span of their own.
await trace.getTracer('travel-desk').startActiveSpan('invoke_agent travel-desk', async (root) => {
  root.setAttributes({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'travel-desk' });
  const messages = [];
  for (const said of ['Please cancel my booking B-7.', 'Yes, please.']) {
    console.log(`user:  ${said}`);
    messages.push({ role: 'user', content: said });
    const { text, steps, response } = await generateText({
      model,
      tools,
      messages,
      stopWhen: stepCountIs(5),
      experimental_telemetry: { isEnabled: true, functionId: 'travel-desk' },
    });
    messages.push(...response.messages);
    for (const used of steps.flatMap((step) => step.toolCalls)) {
      console.log(`       [${used.toolName} ${JSON.stringify(used.input)}]`);
    }
    console.log(`agent: ${text}`);
    if (!text.endsWith('?')) {
      break; // nothing was asked, so the user does not answer
    }
  }
  root.end();
  console.log(root.spanContext().traceId);
});
await provider.shutdown();
