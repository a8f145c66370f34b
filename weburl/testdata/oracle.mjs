// A second opinion on URLs: Node's own WHATWG parser, and the address rules written once more, in another language and
// by another method (bit strings instead of prefixes), so that a slip in one of the two shows.
//
// One JSON array a line on standard input, [url] or [reference, base]; one JSON object a line on standard output:
// ok (it parses), href without fragment, host, port, contextual (the host has right-to-left letters or joiners, whose
// context Node 20 does not fully check although the standard asks for it), refuse (the reason, "" if it is allowed).
import { createInterface } from "node:readline";
import { domainToUnicode } from "node:url";

const v4Ranges = `
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32`;

const v6Ranges = `
0:0:0:0:0:0:0:0/96 0:0:0:0:ffff:0:0:0/96 64:ff9b:1:0:0:0:0:0/48 100:0:0:0:0:0:0:0/64 100:0:0:1:0:0:0:0/64
2001:0:0:0:0:0:0:0/23 2001:db8:0:0:0:0:0:0/32 2620:4f:8000:0:0:0:0:0/48 3fff:0:0:0:0:0:0:0/20
5f00:0:0:0:0:0:0:0/16 fc00:0:0:0:0:0:0:0/7 fe80:0:0:0:0:0:0:0/10 fec0:0:0:0:0:0:0:0/10 ff00:0:0:0:0:0:0:0/8`;

const bits4 = (s) => s.split(".").map((n) => Number(n).toString(2).padStart(8, "0")).join("");
const bits6 = (groups) => groups.map((g) => parseInt(g || "0", 16).toString(2).padStart(16, "0")).join("");
const starts = (text, bits) =>
  text.trim().split(/\s+/).map((range) => {
    const [address, length] = range.split("/");
    return bits(address).slice(0, Number(length));
  });
const special4 = starts(v4Ranges, bits4);
const special6 = starts(v6Ranges, (s) => bits6(s.split(":")));

const badPorts = new Set(`0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113
115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989
990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/));

function expand(host) {
  const [head, tail] = host.slice(1, -1).split("::");
  const left = head ? head.split(":") : [];
  if (tail === undefined) return left;
  const right = tail ? tail.split(":") : [];
  return [...left, ...Array(8 - left.length - right.length).fill("0"), ...right];
}

const v4 = (bits) => special4.some((start) => bits.startsWith(start));

function v6(bits) {
  if (special6.some((start) => bits.startsWith(start))) return true;
  if (bits.startsWith("0".repeat(80) + "1".repeat(16))) return v4(bits.slice(96));
  if (bits.startsWith(bits6(["64", "ff9b", "0", "0", "0", "0"]))) return v4(bits.slice(96));
  const isatap = bits.slice(64, 70) + bits.slice(71, 96) === "0".repeat(15) + bits6(["5efe"]);
  if (isatap && v4(bits.slice(96))) return true;
  return bits.startsWith(bits6(["2002"])) && v4(bits.slice(16, 48));
}

function refusal(url) {
  if (url.protocol !== "http:" && url.protocol !== "https:") return "scheme";
  if (url.username || url.password) return "credentials";
  const host = url.hostname.replace(/\.$/, "");
  if (host.startsWith("[")) {
    if (v6(bits6(expand(host)))) return "private";
  } else if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    if (v4(bits4(host))) return "private";
  } else {
    const labels = host.split(".");
    if (labels.includes("")) return "empty label";
    if (["localhost", "internal"].includes(labels.at(-1))) return "private";
  }
  if (badPorts.has(url.port)) return "port";
  return "";
}

function answer([text, base]) {
  if (base === undefined && [...text].length > 2000) return { ok: true, refuse: "length" };
  let url;
  try {
    url = new URL(text, base);
  } catch {
    return { ok: false, refuse: "parse" };
  }
  const hrefLength = url.href.length;
  url.hash = "";
  return {
    ok: true, href: url.href, host: url.hostname.replace(/\.$/, ""),
    port: url.port || (url.protocol === "https:" ? "443" : "80"),
    contextual: /[\u200c\u200d\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/.test(domainToUnicode(url.hostname)),
    refuse: base !== undefined && hrefLength > 2000 ? "length" : refusal(url),
  };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
