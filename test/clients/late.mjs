// Starts a program as late as a busy machine may: once the client has asked which eras there are, has waited in vain and
// sent the older era's handshake. Arguments: the program and its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const [program, ...args] = process.argv.slice(2);
let asked = Buffer.alloc(0);
while (!asked.includes('"initialize"')) {
  const [more] = await once(process.stdin, 'data');
  process.stdin.pause();
  asked = Buffer.concat([asked, more]);
  process.stdin.resume();
}
process.stdin.pause();
if (!asked.includes('"server/discover"')) throw new Error('the client did not ask for the eras first');
const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
child.stdin.write(asked);
process.stdin.pipe(child.stdin);
const [code] = await once(child, 'exit');
process.exit(code ?? 1);
