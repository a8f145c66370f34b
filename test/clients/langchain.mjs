// Drives LangChain (langchain's agent, @langchain/mcp-adapters) with a scripted model.

import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { createAgent } from 'langchain';
import { nextCall, orders, report } from './script.mjs';

const order = orders();
const client = new MultiServerMCPClient({ mcpServers: order.mcpServers, useStandardContentBlocks: true });
try {
  const tools = await client.getTools();
  const requests = [];
  let texts = [];
  const model = fakeModel();
  for (let turn = 0; turn <= order.calls.length; turn++) {
    model.respond((messages) => {
      requests.push(JSON.stringify(messages));
      texts = toolTexts(messages);
      const args = nextCall(order.calls, texts);
      return args === null
        ? new AIMessage('done')
        : new AIMessage({ content: '', tool_calls: [{ name: tools[0].name, args, id: `call-${requests.length}` }] });
    });
  }
  const agent = createAgent({ model, tools });
  await agent.invoke({ messages: [{ role: 'user', content: 'read' }] });
  report({ offered: tools.map((tool) => tool.name), requests, texts });
} finally {
  await client.close();
}

// LangChain gives a model the one text of a result as JSON, with the structured part beside it; a failed call as words
// of its own around the text.
function toolTexts(messages) {
  return messages.filter((message) => message.getType() === 'tool').map(({ content, status }) => {
    if (typeof content === 'string') return status === 'error' ? content : JSON.parse(content).text;
    if (content.length !== 1 || content[0].type !== 'text') {
      throw new Error(`a tool result that is not one text: ${JSON.stringify(content)}`);
    }
    return content[0].text;
  });
}
