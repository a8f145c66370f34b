// One scripted conversation of the AI SDK with a given set of tools. Beside what a driver reports it gives, as stored,
// the conversation as a host sends it again from its own store: converted with the tools at hand, and without them.

import { convertToModelMessages, generateText, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { nextCall, TOOL } from './script.mjs';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export async function converse(tools, calls) {
  const requests = [];
  let offered = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools: seen }) => {
      requests.push(JSON.stringify(prompt));
      offered = seen.map((tool) => tool.name);
      const args = nextCall(calls, toolTexts(prompt));
      if (args === null) {
        return { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
      }
      return {
        content: [{ type: 'tool-call', toolCallId: `call-${requests.length}`, toolName: TOOL, input: JSON.stringify(args) }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [],
      };
    },
  });
  let finished = [];
  await generateText({
    model, tools, prompt: 'read', stopWhen: stepCountIs(calls.length + 1),
    onFinish: ({ steps }) => { finished = steps.flatMap((step) => step.toolResults); },
  });
  return {
    offered,
    requests,
    texts: toolTexts(JSON.parse(requests.at(-1))),
    results: finished.map((result) => result.output),
    stored: [await storedAndSentAgain(finished, tools), await storedAndSentAgain(finished)],
  };
}

async function storedAndSentAgain(finished, tools) {
  const parts = finished.map(({ toolCallId, toolName, input, output }) => (
    { type: 'dynamic-tool', toolName, toolCallId, state: 'output-available', input, output }
  ));
  return JSON.stringify(await convertToModelMessages([{ role: 'assistant', parts }], { tools }));
}

// toolTexts lists the text of every tool result in a prompt; anything in a result that is not text is an error.
function toolTexts(prompt) {
  return prompt
    .filter((message) => message.role === 'tool')
    .flatMap((message) => message.content)
    .map(({ output }) => {
      if (output.type === 'text' || output.type === 'error-text') return output.value;
      if (output.type !== 'content' || output.value.length !== 1 || output.value[0].type !== 'text') {
        throw new Error(`a tool result that is not one text: ${JSON.stringify(output)}`);
      }
      return output.value[0].text;
    });
}
