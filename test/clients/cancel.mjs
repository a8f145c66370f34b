// Calls web_fetch with the official client, in the era that is asked for, and gives up a while after a second line has
// come on its standard input. It stays connected until that ends, as a harness that goes on with other things does.
//   orders  {url, headers, era: "legacy"|"modern", call: {...arguments}, afterMs}
//   report  protocol: the revision spoken; error: name and message of what the call threw

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { orders, report, TOOL } from './script.mjs';

const order = orders();
const client = new Client(
  { name: 'driver', version: '1' },
  { versionNegotiation: { mode: order.era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(order.url), { requestInit: { headers: order.headers } }));
const abort = new AbortController();
process.stdin.once('data', () => setTimeout(() => abort.abort('the driver gave up'), order.afterMs));
const ended = new Promise((resolve) => process.stdin.once('end', resolve));
let error = null;
try {
  await client.callTool({ name: TOOL, arguments: order.call }, { signal: abort.signal });
} catch (thrown) {
  error = { name: thrown?.name ?? typeof thrown, message: String(thrown?.message ?? thrown) };
}
report({ protocol: client.getNegotiatedProtocolVersion(), error });
await ended;
await client.close();
