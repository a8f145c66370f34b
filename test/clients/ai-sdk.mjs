// Drives the AI SDK (ai, @ai-sdk/mcp) over HTTP or stdio with a scripted model. The host's view is the result of the
// tool's execution; the model's view is the prompt that the SDK hands to the model.

import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { orders, report } from './script.mjs';
import { converse } from './ai-sdk-model.mjs';

const order = orders();
const client = await createMCPClient({
  transport: order.command
    ? new StdioTransport({ command: order.command, args: order.args, env: order.env })
    : { type: 'http', url: order.url, headers: order.headers },
});
try {
  report(await converse(await client.tools(), order.calls));
} finally {
  await client.close();
}
