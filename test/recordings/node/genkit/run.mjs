import { openAI } from '@genkit-ai/compat-oai/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { genkit, z } from 'genkit';
import { enableTelemetry, flushTracing } from 'genkit/tracing';
import { attempt, MODEL, PROMPT, SYSTEM, TOOLS, YES } from './scenario.mjs';

await enableTelemetry({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
const ai = genkit({ plugins: [openAI({ apiKey: 'test', baseURL: process.env.OPENAI_BASE_URL })] });
const tools = Object.entries(TOOLS).map(([name, [description, args, run]]) =>
  ai.defineTool({ name, description, inputSchema: z.object(Object.fromEntries(Object.entries(args).map(([k, t]) => [k, z[t]()]))), outputSchema: z.any() }, run));
let messages;
for (const prompt of [PROMPT, YES]) {
  const answer = await attempt(() => ai.generate({ model: openAI.model(MODEL), system: messages ? undefined : SYSTEM, prompt, messages, tools, maxTurns: 10 }));
  messages = answer?.messages;
}
await flushTracing();
