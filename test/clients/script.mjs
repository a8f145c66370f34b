// The scripted model of the drivers beside this file: it plays a fixed list of tool calls, so that a test says what
// a harness was asked to do and reads what the harness put before its model. It decides nothing else.
//
// A driver reads its orders, one line of JSON, from standard input and writes one JSON report to standard output:
//   orders  {url, headers} or {command, args, env}: the server; calls: [{...arguments}], where offset "continue"
//           means the offset that the header of the last result names
//   report  offered: tool names as the model saw them; requests: what went to the model, one JSON text a turn;
//           texts: the tool results as the model saw them, in order; results: what the host was given; details: what the
//           host's own lines made of each, where it has some

import { readSync, writeSync } from 'node:fs';

export function orders() {
  const one = Buffer.alloc(1);
  const line = [];
  while (readSync(0, one) === 1 && one[0] !== 10) line.push(one[0]);
  return JSON.parse(Buffer.from(line).toString('utf8'));
}

export function report(value) {
  writeSync(1, JSON.stringify(value) + '\n');
}

// nextCall gives the arguments of the call that follows the given tool texts, or null when the script is over.
export function nextCall(calls, texts) {
  if (texts.length >= calls.length) return null;
  const args = { ...calls[texts.length] };
  if (args.offset === 'continue') {
    const header = texts[texts.length - 1].split('\n', 1)[0];
    const found = /continue with offset=(\d+)/.exec(header);
    if (!found) throw new Error(`no offset to continue with in ${JSON.stringify(header)}`);
    args.offset = Number(found[1]);
  }
  return args;
}

export const TOOL = 'web_fetch';
