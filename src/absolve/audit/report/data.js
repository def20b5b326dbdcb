"use strict";
/* Read the data of the page into columns, and answer searches, filters and sorts on them. */

const report = {};

report.read = async function () {
  const binary = atob(document.getElementById("data").textContent.trim());
  const bytes = Uint8Array.from(binary, character => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const {causes, findings, urls, length} = data;
  const summed = values => { for (let at = 1; at < values.length; at++) values[at] += values[at - 1]; };
  const columns = (table, names, sums) => {
    for (const name of names) table[name] = Int32Array.from(table[name] || new Int32Array(length));
    for (const name of sums) summed(table[name]);
  };
  columns(causes, Object.keys(causes).filter(name => name !== "requests"), ["title", "final", "fix", "suggestion", "rule"]); // requests may be billions
  columns(findings, ["document", "section", "layer", "line", "column", "reference", "source", "fix", "final", "verdict"],
    ["document", "reference", "source", "fix", "final"]);
  columns(urls, ["url", "verdict", "final", "suggestion", "rule"], ["url", "final", "suggestion", "rule"]);
  const count = causes.verdict.length, start = new Int32Array(count + 1);
  for (let at = 0; at < count; at++) start[at + 1] = start[at] + causes.listed[at];
  return {...data, count, start};
};

/* The columns with indexes: `find` and `findUrls` return the numbers of the rows that match, in order. */
report.Index = class {
  constructor(data) {
    this.data = data;
    this.parts = new Map(); // section and base layer -> findings of each cause there
    this.lower = null;
  }

  /* Two arrays of bits, one for each word: which texts, and which documents, contain it. */
  containing(words) {
    this.lower ||= [this.data.texts, this.data.documents].map(texts => texts.map(text => text.toLowerCase()));
    return this.lower.map(texts => Int32Array.from(texts, text => {
      let found = 0;
      for (let bit = 0; bit < words.length; bit++) if (text.includes(words[bit])) found |= 1 << bit;
      return found;
    }));
  }

  /* A function that returns whether bits are those of all words, and the bits of the texts and documents. */
  searched(query) {
    const words = query.toLowerCase().slice(0, 200).split(/\s+/).filter(Boolean).slice(0, 30);
    const [inText, inDocument] = this.containing(words), all = (1 << words.length) - 1;
    return {inText, inDocument, all};
  }

  /* Whether a finding is in a section and under a base layer; "" is any. */
  within(section, layer) {
    const {findings, sections, layers} = this.data;
    const s = section ? sections.indexOf(section) : null, l = layer ? layers.indexOf(layer) : null;
    return at => (s === null || findings.section[at] === s) && (l === null || findings.layer[at] === l);
  }

  countsIn(section, layer) {
    const key = `${section}\n${layer}`;
    if (!this.parts.has(key)) {
      const {start, count} = this.data, is = this.within(section, layer), found = new Int32Array(count);
      for (let cause = 0; cause < count; cause++) {
        for (let at = start[cause]; at < start[cause + 1]; at++) if (is(at)) found[cause]++;
      }
      this.parts.set(key, found);
    }
    return this.parts.get(key);
  }

  /* One byte for each cause: 1 where its texts and those of one of its findings contain the words. */
  matching(query) {
    const {causes, findings, start, count} = this.data, {inText, inDocument, all} = this.searched(query);
    return Uint8Array.from({length: count}, (_, cause) => {
      const own = inText[causes.title[cause]] | inText[causes.final[cause]] | inText[causes.fix[cause]]
        | inText[causes.suggestion[cause]] | inText[causes.rule[cause]];
      if (own === all) return 1;
      for (let at = start[cause]; at < start[cause + 1]; at++) {
        if ((own | inText[findings.reference[at]] | inDocument[findings.document[at]]) === all) return 1;
      }
      return 0;
    });
  }

  /* Whether a cause, or one of its findings, has a verdict: a wrong rule has links and old URLs with theirs. */
  has(cause, verdict) {
    const {causes, findings, start} = this.data;
    if (causes.verdict[cause] === verdict) return true;
    if (!causes.links[cause] && !causes.urls[cause]) return false;
    return findings.verdict.subarray(start[cause], start[cause + 1]).includes(verdict + 1);
  }

  find({query, verdict, section, layer, kind, sort}) {
    const {causes, count, kinds, verdicts} = this.data;
    const v = verdicts.findIndex(one => one.id === verdict), k = kinds.indexOf(kind);
    const counts = section || layer ? this.countsIn(section, layer) : null;
    const hits = query.trim() ? this.matching(query) : null;
    const rows = [];
    let findings = 0;
    for (let at = 0; at < count; at++) {
      if (verdict && !this.has(at, v) || kind && causes.kind[at] !== k || counts && !counts[at] || hits && !hits[at]) continue;
      rows.push(at);
      findings += counts ? counts[at] : causes.count[at];
    }
    const sizes = counts || causes.count;
    const key = {count: at => sizes[at], pages: at => causes.pages[at], requests: at => causes.requests[at]}[sort] || (at => -causes.rank[at]);
    const rank = sort === "first" ? at => verdicts[causes.verdict[at]].severity : () => 0;
    rows.sort((a, b) => rank(a) - rank(b) || key(b) - key(a) || a - b);
    return {rows, findings, counts};
  }

  findUrls({query, verdict}) {
    const {urls, verdicts} = this.data, v = verdicts.findIndex(one => one.id === verdict);
    const {inText, inDocument, all} = this.searched(query);
    const rows = [];
    for (let at = 0; at < urls.url.length; at++) {
      if (verdict && urls.verdict[at] !== v) continue;
      if ((inDocument[urls.url[at]] | inText[urls.final[at]] | inText[urls.suggestion[at]] | inText[urls.rule[at]]) === all) rows.push(at);
    }
    return rows;
  }
};

/* A text that no spreadsheet evaluates: the same rule as in the tables that absolve writes. */
const FORMULA = String.raw`(?:[=@\uff1d\uff0b\uff0d\uff20]|[+-](?![0-9 .,:/()%+*-]*(?:[;\t\r\n]|$)))`; // numbers alone stay
const EVALUATED = new RegExp(String.raw`^(?='*(?:[\t\r\n]|${FORMULA}))|(?<=[;\t\r\n])(?=['"]*${FORMULA})`, "g");
report.literal = text => text.replace(EVALUATED, "'");

report.csv = rows => rows.map(row => row.map(cell => {
  const text = typeof cell === "number" ? String(cell) : report.literal(cell);
  return /[,"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(",") + "\n").join("");
