"use strict";
/* The list of causes with their findings, and the table of old URLs: each shows more rows when it is asked to. */

report.make = function (name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "text") element.textContent = value;
    else if (key === "class") element.className = value;
    else if (key === "click") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter(Boolean));
  return element;
};

report.number = count => count.toLocaleString("en");
report.noun = (count, noun) => `${report.number(count)} ${noun}${count === 1 ? "" : "s"}`;

/* Whether a rule is named by its place, FILE:LINE, and not a rule to add. */
report.isPlace = rule => /^[^\s,]+:\d+$/.test(rule);

/* Whether a text was too long for this page: it is of no use elsewhere. */
report.isCut = text => text.length >= 600 && text.endsWith("…");

/* A text with a button that selects and copies it, which needs no permission. */
report.copied = function (text, name) {
  const code = report.make("code", {text});
  if (report.isCut(text)) return [code];
  const button = report.make("button", {type: "button", class: "copy", text: "Copy", "aria-label": `Copy the ${name}: ${text}`, click: () => {
    getSelection().selectAllChildren(code);
    const done = document.execCommand("copy");
    button.textContent = done ? "Copied" : "Selected";
    document.getElementById("said").textContent = done ? `The ${name} is copied.` : `The ${name} is selected: press Ctrl+C.`;
  }});
  return [code, " ", button];
};

/* Rows of which the first ones are shown, with a button for more. */
report.Paged = class {
  constructor(holder, size, row) {
    Object.assign(this, {holder, size, row, shown: 0, numbers: []});
    this.button = report.make("button", {type: "button", class: "more", click: () => this.grow(this.size * 4)});
    (holder.closest("table") || holder).after(this.button);
  }

  show(numbers, size = this.size) {
    this.numbers = numbers;
    this.shown = 0;
    this.holder.replaceChildren();
    this.grow(size);
  }

  grow(size) {
    const first = this.shown, rows = Array.from(this.numbers.slice(first, first + size), (number, at) => this.row(number, this.numbers[first + at - 1]));
    this.holder.append(...rows.flat());
    this.shown += rows.length;
    const left = this.numbers.length - this.shown;
    this.button.hidden = !left;
    this.button.dataset.left = `${report.number(left)} more`; // on paper
    this.button.textContent = `Show ${report.number(Math.min(left, this.size * 4))} of ${report.number(left)} more`;
    if (first && rows.length) (rows[0].at?.(-1) || rows[0]).querySelector("summary, button, a")?.focus();
  }
};

/* Make the item of a cause. */
report.Causes = class {
  constructor(data, index) {
    Object.assign(this, {data, index, found: {rows: [], counts: null}, filters: {}, where: ""});
    this.list = new report.Paged(document.getElementById("list"), 25, (number, before) => this.row(number, before));
  }

  show(filters) {
    this.filters = filters;
    this.found = this.index.find(filters);
    this.list.show(this.found.rows);
    return this.found;
  }

  row(number, before) {
    const {causes, verdicts, severities} = this.data, {severity} = verdicts[causes.verdict[number]];
    const isFirst = before === undefined || verdicts[causes.verdict[before]].severity !== severity;
    if (this.filters.sort !== "first" || !isFirst) return [this.item(number)];
    return [report.make("li", {class: "group"}, report.make("h3", {text: severities[severity]})), this.item(number)];
  }

  item(number) {
    const {make} = report, {causes, texts, verdicts, start} = this.data;
    const verdict = verdicts[causes.verdict[number]];
    const kind = this.data.kinds[causes.kind[number]], first = [...this.place(start[number]), ...(kind === "links" ? [] : this.fix(start[number], kind))];
    const item = make("li", {class: `cause s${verdict.severity}`},
      make("p", {class: "what"}, make("span", {class: "badge", text: verdict.name}), " ", make("b", {text: texts[causes.title[number]]})),
      make("p", {class: "reach", text: this.reach(number)}),
      make("p", {class: "where"}, ...first),
      make("p", {class: "repair"}, ...this.repair(number, verdict)));
    if (causes.count[number] > 1) item.append(this.details(number, verdict));
    return item;
  }

  reach(number) {
    const {causes, kinds, nouns} = this.data, kind = causes.kind[number], counts = this.found.counts;
    const count = causes.count[number], urls = causes.urls[number], links = causes.links[number];
    const more = [[urls, "old URL"], [links, "link"]].filter(([some]) => some).map(([some, noun]) => `, ${report.noun(some, noun)}`);
    const size = report.noun(count - urls - links, nouns[kind]) + more.join("");
    const here = counts && counts[number] < count ? `, ${report.number(counts[number])} of them here` : "";
    if (kinds[kind] === "links") return `${size} on ${report.noun(causes.pages[number], "page")}${here}`;
    return (causes.requests[number] ? `${size}, ${report.noun(causes.requests[number], this.data.asked)}` : size) + here;
  }

  repair(number, verdict) {
    const {causes, findings, start, texts} = this.data, text = name => texts[causes[name][number]];
    const own = findings.fix.subarray(start[number], start[number + 1]);
    const rule = text("rule"), parts = [];
    if (text("fix")) parts.push("Write ", ...report.copied(text("fix"), "repair"), " ");
    if (rule) parts.push(report.isPlace(rule) ? "See " : "Add the rule ", ...report.copied(rule, "rule"), " ");
    if (text("suggestion") && !parts.length) parts.push("Perhaps ", ...report.copied(text("suggestion"), "suggestion"), " ");
    if (!text("fix") && own.some(Boolean)) parts.push(`${own.every(Boolean) ? "Each has a repair of its own" : "Some have a repair"}: --fix writes them.`);
    return parts.length ? parts : [verdict.repair];
  }

  details(number, verdict) {
    const {make} = report, {causes, kinds, nouns, start} = this.data, kind = kinds[causes.kind[number]];
    const count = causes.count[number], listed = causes.listed[number], here = this.found.counts?.[number] ?? count;
    const noun = causes.links[number] || causes.urls[number] ? "finding" : nouns[causes.kind[number]];
    const list = make("ul"), details = make("details", {}, make("summary", {text: here < count ? `${report.noun(here, noun)} here` : `All ${report.noun(count, noun)}`}),
      make("p", {class: "soft", text: verdict.meaning + (listed < count ? ` The first ${report.number(listed)} are listed. The other outputs have all of them.` : "")}), list);
    const paged = new report.Paged(list, 20, at => make("li", {}, ...this.place(at), ...this.fix(at, kind)));
    paged.button.hidden = true;
    details.fill = size => {
      const {section, layer} = this.filters, all = Array.from({length: listed}, (_, at) => start[number] + at);
      if (!paged.shown) paged.show(section || layer ? all.filter(this.index.within(section, layer)) : all, size);
    };
    details.addEventListener("toggle", () => { if (details.open) details.fill(); });
    return details;
  }

  /* Where a finding is, and what is there. */
  place(at) {
    const {make} = report, {findings, documents, texts, lines} = this.data;
    const place = [documents[findings.document[at]], findings.line[at], findings.column[at]].filter(Boolean).join(":");
    const source = lines[findings.source[at]] || texts[findings.reference[at]];
    return [make("span", {class: "place", text: place}), source ? " " : null, source ? make("code", {text: source}) : null].filter(Boolean);
  }

  /* What to write, or where it leads. */
  fix(at, kind) {
    const {findings, texts} = this.data, fix = texts[findings.fix[at]], final = texts[findings.final[at]];
    if (!fix) return final ? [`${["links", "old URLs"].includes(kind) ? " → " : " "}${final}`] : [];
    return [" write ", report.make("code", {text: fix})];
  }
};

/* The table of old URLs, and its rows as CSV. */
report.Urls = class {
  constructor(data, index) {
    Object.assign(this, {data, index, rows: []});
    this.table = new report.Paged(document.querySelector("#urls tbody"), 25, number => this.row(number));
  }

  show(filters) {
    this.rows = this.index.findUrls(filters);
    this.table.show(this.rows);
    return this.rows;
  }

  cells(number) {
    const {urls, documents, texts, verdicts} = this.data;
    return {verdict: verdicts[urls.verdict[number]], url: documents[urls.url[number]], requests: urls.requests[number],
      final: texts[urls.final[number]], suggestion: texts[urls.suggestion[number]], rule: texts[urls.rule[number]]};
  }

  row(number) {
    const {make} = report, {verdict, url, requests, final, suggestion, rule} = this.cells(number);
    const isFine = ["kept", "mapped", "gone"].includes(verdict.id);
    const leads = [final || (verdict.id === "gone" ? "gone (410)" : make("b", {text: "nowhere"}))];
    if (suggestion && suggestion !== final) leads.push(make("span", {class: "soft", text: ` perhaps ${suggestion}`}));
    const cells = [["Verdict", make("span", {class: `badge ${isFine ? "fine" : `s${verdict.severity}`}`, text: verdict.name})], ["Old URL", url],
      ["Leads to", ...leads], ["Rule", rule || "–"]];
    const counted = document.querySelector("#urls th.n")?.textContent;
    if (counted) cells.push([counted, requests < 0 ? "–" : report.number(requests)]);
    return make("tr", {}, ...cells.map(([name, ...parts]) => make("td", {"data-name": name, class: name === counted ? "n" : ""}, ...parts)));
  }

  csv() {
    const names = ["url", "verdict", "final", "suggestion", "rule", "requests"];
    const rows = this.rows.map(number => { const {verdict, requests, ...texts} = this.cells(number);
      return names.map(name => ({...texts, verdict: verdict.id, requests: requests < 0 ? "" : requests})[name]); });
    return report.csv([names, ...rows]);
  }
};
