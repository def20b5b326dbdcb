"use strict";
/* Read the data of the page into columns, and answer searches, filters and sorts on them. */

const report = {};

report.read = async function () {
  const text = document.getElementById("data").textContent.trim();
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const {causes, findings, length} = data;
  const summed = values => { for (let at = 1; at < values.length; at++) values[at] += values[at - 1]; };
  for (const name of Object.keys(causes)) causes[name] = Int32Array.from(causes[name]);
  for (const name of ["title", "final", "fix", "suggestion", "rule"]) summed(causes[name]);
  for (const name of ["document", "section", "layer", "line", "column", "reference", "source", "fix", "final"]) {
    findings[name] = Int32Array.from(findings[name] || new Int32Array(length));
  }
  for (const name of ["document", "reference", "source", "fix", "final"]) summed(findings[name]);
  const count = causes.verdict.length;
  const start = new Int32Array(count + 1);
  for (let at = 0; at < count; at++) start[at + 1] = start[at] + causes.listed[at];
  return {...data, count, start};
};

/* The columns with indexes: `find` returns the numbers of the causes that match, in order. */
report.Index = class {
  constructor(data) {
    this.data = data;
    this.verdict = new Map(data.verdicts.map((one, at) => [one.id, at]));
    this.section = new Map(data.sections.map((one, at) => [one, at]));
    this.layer = new Map(data.layers.map((one, at) => [one, at]));
    this.parts = new Map(); // section and base layer -> findings of each cause there
    this.lower = null;
    this.ranks = new Map();
  }

  /* Texts in lower case, made when the first search needs them. */
  texts() {
    if (!this.lower) {
      this.lower = this.data.texts.map(text => text.toLowerCase());
      this.lowerDocuments = this.data.documents.map(text => text.toLowerCase());
    }
    return this.lower;
  }

  /* Whether a finding is in a section and under a base layer; "" is any. */
  within(section, layer) {
    const {findings} = this.data;
    const s = section ? this.section.get(section) ?? -1 : null, l = layer ? this.layer.get(layer) ?? -1 : null;
    return at => (s === null || findings.section[at] === s) && (l === null || findings.layer[at] === l);
  }

  countsIn(section, layer) {
    const key = `${section}\n${layer}`;
    if (!this.parts.has(key)) {
      const {start, count} = this.data, is = this.within(section, layer);
      const found = new Int32Array(count);
      for (let cause = 0; cause < count; cause++) {
        for (let at = start[cause]; at < start[cause + 1]; at++) if (is(at)) found[cause]++;
      }
      this.parts.set(key, found);
    }
    return this.parts.get(key);
  }

  /* One byte for each cause: 1 where its texts or those of its findings contain the words. */
  matching(query) {
    const {data} = this, {causes, findings, start, count} = data;
    const lower = this.texts();
    const hits = new Uint8Array(count);
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const inText = lower.map(() => 0), inDocument = this.lowerDocuments.map(() => 0);
    const all = (1 << words.length) - 1;
    words.forEach((word, bit) => {
      for (let at = 0; at < lower.length; at++) if (lower[at].includes(word)) inText[at] |= 1 << bit;
      for (let at = 0; at < inDocument.length; at++) if (this.lowerDocuments[at].includes(word)) inDocument[at] |= 1 << bit;
    });
    for (let cause = 0; cause < count; cause++) {
      const own = inText[causes.title[cause]] | inText[causes.final[cause]] | inText[causes.fix[cause]]
        | inText[causes.suggestion[cause]] | inText[causes.rule[cause]];
      if (own === all) { hits[cause] = 1; continue; }
      for (let at = start[cause]; at < start[cause + 1]; at++) {
        if ((own | inText[findings.reference[at]] | inDocument[findings.document[at]]) === all) { hits[cause] = 1; break; }
      }
    }
    return hits;
  }

  find({query, verdict, section, layer, kind, sort, down}) {
    const {causes, count, kinds, verdicts, texts} = this.data;
    const v = verdict ? this.verdict.get(verdict) ?? -1 : null;
    const k = kind ? kinds.indexOf(kind) : null;
    const counts = section || layer ? this.countsIn(section, layer) : null;
    const hits = query.trim() ? this.matching(query.trim().slice(0, 200)) : null;
    const found = [];
    let findings = 0;
    for (let at = 0; at < count; at++) {
      if (v !== null && causes.verdict[at] !== v) continue;
      if (k !== null && causes.kind[at] !== k) continue;
      if (counts && !counts[at]) continue;
      if (hits && !hits[at]) continue;
      found.push(at);
      findings += counts ? counts[at] : causes.count[at];
    }
    const number = sort === "count" ? counts || causes.count : ["pages", "requests"].includes(sort) ? causes[sort] : this.rank(sort);
    const sign = down ? -1 : 1;
    found.sort((a, b) => sign * (number[a] - number[b]) || a - b);
    return {rows: found, findings, counts};
  }

  /* The rank of each cause by a text, so that sorting compares numbers. */
  rank(name) {
    if (!this.ranks.has(name)) {
      const {causes, verdicts} = this.data;
      const values = name === "verdict" ? verdicts.map(one => one.name) : this.texts();
      const used = [...new Set(causes[name])].sort((a, b) => values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : 0);
      const places = new Map(used.map((value, at) => [value, at]));
      this.ranks.set(name, Int32Array.from(causes[name], value => places.get(value)));
    }
    return this.ranks.get(name);
  }
};
