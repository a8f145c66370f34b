// Calls one tool with the AI SDK (@ai-sdk/mcp), whose form handler gives a fixed answer to what the server asks.
//   orders  {url, headers, tool, arguments, answer}
//   report  asked: the messages of the forms, in order; result: what the host was given

import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { orders, report } from './script.mjs';

const order = orders();
const asked = [];
const client = await createMCPClient({
  transport: { type: 'http', url: order.url, headers: order.headers },
  capabilities: { elicitation: {} },
});
client.onElicitationRequest(ElicitationRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: 'accept', content: { answer: order.answer } };
});
try {
  const tools = await client.tools();
  report({ asked, result: await tools[order.tool].execute(order.arguments, { messages: [], toolCallId: 'one' }) });
} finally {
  await client.close();
}
