// The main content of pages by Readability on jsdom, as Markdown by turndown: what a program on Node does.
// node readability.mjs FOLDER STEP reads each STEP-th *.html.gz of the folder, in the order of their names, and prints
// {"cpu": seconds of the conversions, "peak": bytes, "pages": n, "refused": n}.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Readability } from "@mozilla/readability";
import { JSDOM, VirtualConsole } from "jsdom";
import TurndownService from "turndown";
import { gfm } from "@joplin/turndown-plugin-gfm";

const [folder, step] = process.argv.slice(2);
const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
turndown.use(gfm);
let cpu = 0, pages = 0, refused = 0, letters = 0;
const names = readdirSync(folder).filter((n) => n.endsWith(".html.gz")).sort();
for (const name of names.filter((_, i) => i % Number(step) === 0)) {
  const html = gunzipSync(readFileSync(join(folder, name))).toString();
  const before = process.cpuUsage();
  try {
    const dom = new JSDOM(html, { url: "https://docs.example/guide/", virtualConsole: new VirtualConsole() });
    const article = new Readability(dom.window.document).parse();
    if (article) letters += turndown.turndown(article.content).length;
    else refused++;
    dom.window.close();
  } catch {
    refused++;
  }
  const used = process.cpuUsage(before);
  cpu += (used.user + used.system) / 1e6;
  pages++;
}
console.log(JSON.stringify({ cpu, peak: process.resourceUsage().maxRSS * 1024, pages, refused, letters }));
