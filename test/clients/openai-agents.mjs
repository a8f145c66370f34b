// Drives the OpenAI Agents SDK with a scripted model.

import { Agent, MCPServerStdio, MCPServerStreamableHttp, Runner, setTracingDisabled } from '@openai/agents';
import { nextCall, orders, report, TOOL } from './script.mjs';

setTracingDisabled(true);
const order = orders();
const server = order.command
  ? new MCPServerStdio({ name: 'wayleave', command: order.command, args: order.args, env: order.env })
  : new MCPServerStreamableHttp({ name: 'wayleave', url: order.url, requestInit: { headers: order.headers } });
await server.connect();

const requests = [];
let texts = [];
let offered = [];
const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const model = {
  async getResponse(request) {
    requests.push(JSON.stringify(request.input));
    offered = request.tools.map((tool) => tool.name);
    texts = toolTexts(request.input);
    const args = nextCall(order.calls, texts);
    const output = args === null
      ? { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }
      : { type: 'function_call', callId: `call-${requests.length}`, name: TOOL, status: 'completed', arguments: JSON.stringify(args) };
    return { usage, output: [output] };
  },
  getStreamedResponse() {
    throw new Error('the driver does not stream');
  },
};
try {
  const agent = new Agent({ name: 'reader', instructions: 'read', model, mcpServers: [server] });
  await new Runner({ tracingDisabled: true }).run(agent, 'read');
  report({ offered, requests, texts });
} finally {
  await server.close();
}

function toolTexts(input) {
  if (typeof input === 'string') return [];
  return input.filter((item) => item.type === 'function_call_result').map(({ output }) => {
    if (typeof output === 'string') return output;
    const parts = Array.isArray(output) ? output : [output];
    if (parts.length !== 1 || typeof parts[0].text !== 'string') {
      throw new Error(`a tool result that is not one text: ${JSON.stringify(output)}`);
    }
    return parts[0].text;
  });
}
