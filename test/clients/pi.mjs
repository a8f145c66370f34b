// Drives pi (its agent loop, its MCP client, its 20 KiB limit for tool results) with a scripted model. The server is
// given as an entry of an mcpServers object and judged by pi's own reader of such entries.

import { Agent } from '@earendil-works/pi-agent-core';
import { createModels, fauxAssistantMessage, fauxProvider, fauxText, fauxToolCall } from '@earendil-works/pi-ai';
import {
  createMcpToolName, limitMcpContent, McpClient, normalizeMcpInputSchema, StdioTransport, StreamableHttpTransport, toLlmContent,
  validateMcpServerConfig,
} from '@earendil-works/pi-mcp';
import { nextCall, orders, report } from './script.mjs';

const order = orders();
const [name, entry] = Object.entries(order.mcpServers)[0];
const { config, error } = validateMcpServerConfig(name, entry);
if (!config) throw new Error(error);

const client = new McpClient({ name: 'driver', version: '1' });
await client.connect(config.url ? new StreamableHttpTransport(config) : new StdioTransport(config));

// How a host makes a tool's result of ours: lines from elsewhere, or none.
const host = order.host && new (async () => {}).constructor('result', 'base', 'harnessToken', 'toLlmContent', order.host);

const results = [];
const tools = (await client.listTools()).map((tool) => ({
  name: createMcpToolName(name, tool.name, () => false),
  label: tool.name,
  description: tool.description,
  parameters: normalizeMcpInputSchema(tool.inputSchema),
  execute: async (_id, params, signal) => {
    const result = await client.callTool(tool.name, params, { signal });
    results.push(result);
    if (host) return host(result, order.base, order.harnessToken, toLlmContent);
    const { content } = await limitMcpContent(toLlmContent(result));
    return { content, details: undefined, isError: result.isError === true };
  },
}));

const requests = [];
let seen = [];
const faux = fauxProvider();
const answer = (context) => {
  requests.push(JSON.stringify(context.messages));
  const texts = toolTexts(context.messages);
  seen = texts;
  const args = nextCall(order.calls, texts);
  return args === null
    ? fauxAssistantMessage([fauxText('done')])
    : fauxAssistantMessage([fauxToolCall(tools[0].name, args)], { stopReason: 'toolUse' });
};
faux.setResponses(Array(order.calls.length + 1).fill(answer));
const models = createModels();
models.setProvider(faux.provider);

const agent = new Agent({
  initialState: { systemPrompt: 'read', model: faux.getModel(), tools },
  streamFn: models.streamSimple.bind(models),
});
await agent.prompt('read');
await client.close();
const details = agent.state.messages.filter((message) => message.role === 'toolResult').map((message) => message.details ?? null);
report({ offered: tools.map((tool) => tool.name), requests, texts: seen, results, details, protocol: client.protocolVersion });

function toolTexts(messages) {
  return messages.filter((message) => message.role === 'toolResult').map((message) => {
    if (message.content.length !== 1 || message.content[0].type !== 'text') {
      throw new Error(`a tool result that is not one text: ${JSON.stringify(message.content)}`);
    }
    return message.content[0].text;
  });
}
