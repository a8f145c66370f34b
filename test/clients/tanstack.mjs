// Drives TanStack AI (chat, @tanstack/ai-mcp) with a scripted adapter.

import { chat } from '@tanstack/ai';
import { createMCPClient } from '@tanstack/ai-mcp';
import { stdioTransport } from '@tanstack/ai-mcp/stdio';
import { nextCall, orders, report, TOOL } from './script.mjs';

const order = orders();
const client = await createMCPClient({
  transport: order.command
    ? stdioTransport({ command: order.command, args: order.args, env: order.env })
    : { type: 'http', url: order.url, headers: order.headers },
});

const requests = [];
let texts = [];
let offered = [];
const adapter = {
  kind: 'text', name: 'scripted', model: 'scripted',
  async *chatStream({ messages, tools }) {
    requests.push(JSON.stringify(messages));
    offered = tools.map((tool) => tool.name);
    texts = toolTexts(messages);
    const args = nextCall(order.calls, texts);
    const run = { runId: `run-${requests.length}`, threadId: 'thread' };
    const stamp = { timestamp: Date.now(), model: 'scripted' };
    yield { type: 'RUN_STARTED', ...run, ...stamp };
    if (args === null) {
      yield { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant', ...stamp };
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'done', content: 'done', ...stamp };
      yield { type: 'TEXT_MESSAGE_END', messageId: 'm', ...stamp };
      yield { type: 'RUN_FINISHED', finishReason: 'stop', ...run, ...stamp };
      return;
    }
    const toolCallId = `call-${requests.length}`;
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: TOOL, toolName: TOOL, index: 0, ...stamp };
    yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args), ...stamp };
    yield { type: 'TOOL_CALL_END', toolCallId, toolCallName: TOOL, toolName: TOOL, input: args, ...stamp };
    yield { type: 'RUN_FINISHED', finishReason: 'tool_calls', ...run, ...stamp };
  },
};
try {
  const results = [];
  for await (const chunk of chat({ adapter, messages: [{ role: 'user', content: 'read' }], tools: await client.tools() })) {
    if (chunk.type === 'TOOL_CALL_RESULT') results.push(chunk.content);
  }
  report({ offered, requests, texts, results });
} finally {
  await client.close();
}

function toolTexts(messages) {
  return messages.filter((message) => message.role === 'tool').map(({ content }) => {
    if (typeof content === 'string') return content;
    if (content.length !== 1 || content[0].type !== 'text') {
      throw new Error(`a tool result that is not one text: ${JSON.stringify(content)}`);
    }
    return content[0].content ?? content[0].text;
  });
}
