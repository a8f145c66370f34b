// Calls web_fetch with the official client and gives up after a while, in the era that is asked for. It stays connected
// until its standard input ends, as a harness that goes on with other things does.
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
setTimeout(() => abort.abort('the driver gave up'), order.afterMs);
let error = null;
try {
  await client.callTool({ name: TOOL, arguments: order.call }, { signal: abort.signal });
} catch (thrown) {
  error = { name: thrown?.name ?? typeof thrown, message: String(thrown?.message ?? thrown) };
}
report({ protocol: client.getNegotiatedProtocolVersion(), error });
process.stdin.resume();
await new Promise((ended) => process.stdin.once('end', ended));
await client.close();
