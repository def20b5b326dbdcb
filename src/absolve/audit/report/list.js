"use strict";
/* The list of causes and the detail of one: tables that hold only the rows that were scrolled to. */

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

/* Whether a rule is named by its place, FILE:LINE, and not a rule to add. */
report.isPlace = rule => /^[^\s,]+:\d+$/.test(rule);

report.PAGE = 40; // rows that a table asks for at once

/* A table whose rows come from `rows(page)`: Tabulator asks for more when the last ones come into view. */
report.table = function (element, columns, rows, options) {
  const table = new tabulator.Tabulator(element, {
    columns, layout: "fitColumns", height: options.height, placeholder: options.placeholder, index: "number",
    ajaxURL: "about:blank", ajaxRequestFunc: (url, config, params) => Promise.resolve(rows(params.page, params.size)),
    progressiveLoad: "scroll", progressiveLoadScrollMargin: 600, paginationSize: report.PAGE, sortMode: "remote", headerSortClickElement: "header",
    dataLoader: false, columnDefaults: {headerSort: false}, ...options.more,
  });
  table.on("tableBuilt", () => {
    // Rows are in the group that scrolls: a grid may contain only rows and groups of rows.
    const holder = table.element.querySelector(".tabulator-tableholder");
    table.element.removeAttribute("aria-owns");
    holder.setAttribute("role", "rowgroup");
    holder.setAttribute("aria-label", options.label);
    holder.querySelector(".tabulator-table").setAttribute("role", "none");
  });
  return table;
};

report.page = (numbers, page, size, row) => ({
  last_page: Math.max(1, Math.ceil(numbers.length / size)),
  data: Array.from(numbers.slice((page - 1) * size, page * size), row),
});

report.List = class {
  constructor(data, index, open) {
    this.data = data;
    this.index = index;
    this.open = open;
    this.found = {rows: [], counts: null};
    const {make} = report;
    const n = cell => make("span", {text: cell.getValue().toLocaleString("en")});
    const wide = [
      {title: "Verdict", field: "verdict", width: 166, formatter: cell => this.badge(cell.getValue())},
      {title: "Cause", field: "title", minWidth: 180, widthGrow: 3, formatter: cell => this.button(cell.getData())},
      {title: "Findings", field: "count", width: 100, hozAlign: "right", headerHozAlign: "right", formatter: n},
      {title: "Pages", field: "pages", width: 86, hozAlign: "right", headerHozAlign: "right", formatter: n},
      {title: "Repair", field: "repair", minWidth: 160, widthGrow: 2, formatter: cell => this.repair(cell.getData())},
    ];
    const narrow = [
      {title: "Cause", field: "title", minWidth: 120, widthGrow: 1, formatter: cell => this.stacked(cell.getData())},
      {title: "Findings", field: "count", width: 92, hozAlign: "right", headerHozAlign: "right", formatter: n},
    ];
    const media = matchMedia("(max-width: 700px)");
    media.addEventListener("change", () => this.table.setColumns(media.matches ? narrow : wide));
    this.table = report.table("#list", media.matches ? narrow : wide, (page, size) => report.page(this.found.rows, page, size, number => this.row(number)), {
      height: "min(72vh, 46rem)", placeholder: "No cause matches these filters.",
      label: "Causes",
    });
    this.ready = new Promise(done => this.table.on("tableBuilt", done));
    this.table.on("rowClick", (event, row) => { if (!event.target.closest("button")) this.open(row.getData().number); });
  }

  row(number) {
    const {causes, texts, verdicts} = this.data;
    const text = name => texts[causes[name][number]];
    return {number, verdict: verdicts[causes.verdict[number]], title: text("title"), fix: text("fix"), rule: text("rule"),
      suggestion: text("suggestion"), count: this.found.counts ? this.found.counts[number] : causes.count[number], pages: causes.pages[number]};
  }

  badge(verdict) { return report.make("span", {class: `badge v-${verdict.id}`, text: verdict.name}); }

  button(row) {
    return report.make("button", {type: "button", class: "open", text: row.title, title: row.title, "aria-haspopup": "dialog", click: () => this.open(row.number)});
  }

  stacked(row) { return report.make("div", {class: "stacked"}, this.badge(row.verdict), this.button(row), this.repair(row)); }

  repair(row) {
    const {make} = report;
    for (const [name, word] of [["fix", "Write "], ["rule", report.isPlace(row.rule) ? "See " : "Add "], ["suggestion", "Perhaps "]]) {
      if (row[name]) return make("span", {title: row[name]}, word, make("code", {text: row[name]}));
    }
    return make("span", {class: "soft", text: "–"});
  }

  async show(found) {
    this.found = found;
    await this.ready;
    document.getElementById("list").setAttribute("aria-rowcount", String(found.rows.length + 1));
    return this.table.setData("about:blank");
  }
};

report.Detail = class {
  constructor(data, index) {
    this.data = data;
    this.index = index;
    this.dialog = document.getElementById("detail");
    this.table = null;
    this.dialog.addEventListener("close", () => { this.table?.destroy(); this.table = null; });
    this.dialog.addEventListener("click", event => { if (event.target === this.dialog) this.dialog.close(); });
  }

  open(number, section, layer) {
    const {make} = report, {causes, texts, verdicts, start, kinds} = this.data;
    const text = name => texts[causes[name][number]];
    const verdict = verdicts[causes.verdict[number]];
    document.getElementById("detail-title").textContent = text("title");
    const facts = make("dl", {class: "facts"});
    const fact = (name, value, copy) => {
      if (!value) return;
      const shown = make("dd", {}, make("code", {text: value}));
      if (copy) shown.append(this.copier(value));
      facts.append(make("dt", {text: name}), shown);
    };
    facts.append(make("dt", {text: "Verdict"}), make("dd", {}, make("span", {class: `badge v-${verdict.id}`, text: verdict.name}), ` ${verdict.meaning}`));
    const count = causes.count[number].toLocaleString("en"), pages = causes.pages[number].toLocaleString("en");
    facts.append(make("dt", {text: "Size"}), make("dd", {text: kinds[causes.kind[number]] === "links" ? `${count} links on ${pages} pages` : `${count} findings`}));
    fact("It should lead to", text("final"));
    fact("Write", text("fix"), true);
    fact("Perhaps", text("suggestion"), true);
    fact(report.isPlace(text("rule")) ? "Rule" : "Rule to add", text("rule"), true);
    const holder = make("div", {id: "findings"});
    const body = document.getElementById("detail-body");
    body.replaceChildren(facts, make("h3", {text: kinds[causes.kind[number]] === "links" ? "Links" : "Findings"}), holder);
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
    let numbers = Array.from({length: causes.listed[number]}, (_, at) => start[number] + at);
    if (causes.listed[number] < causes.count[number]) {
      const listed = causes.listed[number].toLocaleString("en");
      holder.before(make("p", {class: "soft", text: `The first ${listed} of ${count} are listed. The other outputs have all of them.`}));
    }
    if (section || layer) numbers = numbers.filter(this.index.within(section, layer));
    this.list(holder, numbers, kinds[causes.kind[number]]);
  }

  copier(value) {
    return report.make("button", {type: "button", class: "copy", text: "Copy", click: event => {
      navigator.clipboard?.writeText(value).then(() => { event.target.textContent = "Copied"; }, () => { event.target.textContent = "Not allowed"; });
    }});
  }

  list(holder, numbers, kind) {
    const {make} = report, {findings, documents, texts, lines} = this.data;
    const row = at => ({number: at, document: documents[findings.document[at]], line: findings.line[at], column: findings.column[at],
      reference: texts[findings.reference[at]], source: lines[findings.source[at]], fix: texts[findings.fix[at]], final: texts[findings.final[at]]});
    const place = data => make("span", {class: "place", title: data.document}, data.document, data.line ? make("b", {text: `:${data.line}${data.column ? `:${data.column}` : ""}`}) : "");
    const content = data => {
      const parts = [];
      if (data.reference) parts.push(make("code", {text: data.reference}));
      if (data.fix) parts.push(make("span", {class: "fix"}, "Write ", make("code", {text: data.fix})));
      else if (data.final) parts.push(make("span", {class: "fix"}, kind === "pages" ? "" : "→ ", make("code", {text: data.final})));
      if (data.source) parts.push(make("code", {class: "source", text: data.source}));
      return make("div", {class: "content"}, ...parts);
    };
    const columns = [
      {title: kind === "old URLs" ? "Old URL" : kind === "map" ? "Rule" : kind === "pages" ? "Page or URL" : "Page, line, column", field: "document", minWidth: 140, widthGrow: 2, formatter: cell => place(cell.getData())},
      {title: kind === "links" ? "Link, repair, source line" : "Detail", field: "reference", minWidth: 160, widthGrow: 3, formatter: cell => content(cell.getData()), variableHeight: true},
    ];
    this.table?.destroy();
    const height = numbers.length > 8 ? "min(52vh, 32rem)" : false;
    this.table = report.table(holder, columns, (page, size) => report.page(numbers, page, size, row), {height, placeholder: "Nothing.", label: "Findings of this cause"});
  }
};
