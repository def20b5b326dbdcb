"use strict";
/* Draw the pictures. Colours come from the style sheet, so that they follow light, dark and print. */

report.colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888";

/* A colour between two of the style sheet, written as #rrggbb. */
report.blend = (one, other, share) => {
  const parts = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  const [a, b] = [parts(one), parts(other)];
  return `#${a.map((value, at) => Math.round(value * share + b[at] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
};

const MOST_NODES = 11; // sections on a side of the flows; the others are one

report.Pictures = class {
  constructor(data, filter) {
    this.data = data;
    this.filter = filter;
    this.area = 2;
    this.charts = new Map();
    this.tip = document.getElementById("tip");
    let width = 0;
    const size = new ResizeObserver(() => {
      if (width === document.body.clientWidth) return;
      width = document.body.clientWidth;
      this.resize();
    });
    for (const element of document.querySelectorAll(".picture")) {
      const name = element.id.replace("picture-", "");
      const chart = echarts.init(element, null, {renderer: "svg"});
      for (const svg of element.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true");
      this.charts.set(name, chart);
      size.observe(element);
      chart.on("mousemove", event => this.show(event));
      chart.on("mouseout", () => { this.tip.hidden = true; });
      chart.on("click", event => {
        const found = event.data?.filter;
        if (found) this.filter(found);
      });
      element.addEventListener("mouseleave", () => { this.tip.hidden = true; });
    }
    this.draw();
  }

  resize() { for (const chart of this.charts.values()) chart.resize(); }

  show(event) {
    const text = event.data?.tip;
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const mouse = event.event.event;
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(8, Math.min(mouse.clientX + 14, innerWidth - width - 8))}px`;
    this.tip.style.top = `${Math.min(mouse.clientY + 16, innerHeight - this.tip.offsetHeight - 8)}px`;
  }

  draw() {
    this.text = report.colour("text");
    this.soft = report.colour("soft");
    this.line = report.colour("line");
    this.back = report.colour("card");
    for (const [name, chart] of this.charts) chart.setOption(this[name](chart), true);
  }

  verdict(name) { return report.colour(`v-${name}`); }

  /* The colour of a verdict for an area: calmer than that of a badge. */
  area_(name, share) { return report.blend(this.verdict(name), this.back, share); }

  base() {
    return {animation: false, textStyle: {fontFamily: "system-ui, sans-serif", color: this.text, fontSize: 12}};
  }

  treemap(chart) {
    const {sections, quiet} = this.data.pictures;
    const tree = new Map();
    for (const row of sections) {
      const [section, verdict] = row, value = row[this.area];
      if (!value || quiet.includes(verdict)) continue;
      if (!tree.has(section)) tree.set(section, {name: section, children: [], filter: {section}});
      tree.get(section).children.push({
        name: verdict, value, filter: {section, verdict}, tip: `${section} · ${verdict}: ${value.toLocaleString("en")}`,
        itemStyle: {color: this.area_(verdict, 0.5)},
      });
    }
    const roots = [...tree.values()];
    const sum = children => children.reduce((total, child) => total + child.value, 0);
    const unit = chart.getWidth() * chart.getHeight() / Math.max(1, roots.reduce((total, root) => total + sum(root.children), 0));
    for (const root of roots) {
      root.tip = `${root.name}: ${sum(root.children).toLocaleString("en")}`;
      root.upperLabel = {show: sum(root.children) * unit > 4500};
      for (const child of root.children) child.label = {show: child.value * unit > 5000}; // pixels
    }
    return {...this.base(), series: [{
      type: "treemap", data: roots, nodeClick: false, roam: false, breadcrumb: {show: false},
      left: 0, right: 0, top: 0, bottom: 0,
      label: {show: true, fontSize: 11, overflow: "truncate", color: this.text, padding: [2, 4], position: "insideTopLeft"},
      upperLabel: {show: true, height: 20, color: this.text, fontWeight: 600, fontSize: 12, padding: [0, 4], overflow: "truncate"},
      itemStyle: {borderColor: this.back, borderWidth: 1, gapWidth: 1},
      levels: [
        {itemStyle: {borderWidth: 0, gapWidth: 4}, upperLabel: {show: false}},
        {itemStyle: {borderColor: report.colour("group"), borderWidth: 2, gapWidth: 1, color: report.colour("group")}},
      ],
      emphasis: {upperLabel: {color: this.text}, itemStyle: {borderColor: this.text}},
    }]};
  }

  bars(chart) {
    const {sections} = this.data.pictures;
    const sums = new Map(), order = [];
    for (const [section, verdict, links, , urls] of sections) {
      sums.set(section, (sums.get(section) || 0) + links + urls);
      if (!order.includes(verdict)) order.push(verdict);
    }
    const top = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 14).map(one => one[0]).reverse();
    const values = new Map(sections.map(([section, verdict, links, , urls]) => [`${section}\n${verdict}`, links + urls]));
    const total = verdict => top.reduce((sum, section) => sum + (values.get(`${section}\n${verdict}`) || 0), 0);
    const {quiet} = this.data.pictures;
    order.sort((a, b) => quiet.includes(a) - quiet.includes(b) || total(b) - total(a));
    this.legend(chart, order);
    const narrow = chart.getWidth() < 480;
    this.fit(chart, top.length + 1);
    return {...this.base(), grid: {left: 4, right: 16, top: 4, bottom: 4, containLabel: true},
      xAxis: {type: "value", max: 100, axisLabel: {formatter: "{value} %", color: this.soft}, splitLine: {lineStyle: {color: this.line}}},
      yAxis: this.categories(top, narrow ? 90 : 150),
      series: order.map(verdict => ({
        type: "bar", stack: "all", barMaxWidth: 22, itemStyle: {color: this.area_(verdict, quiet.includes(verdict) ? 0.45 : 0.8), borderColor: this.back, borderWidth: 0.5},
        data: top.map(section => {
          const value = values.get(`${section}\n${verdict}`) || 0;
          const share = 100 * value / sums.get(section);
          return {value: share, filter: {section, verdict}, tip: `${section} · ${verdict}: ${value.toLocaleString("en")} (${share.toFixed(1)} %)`};
        }),
      }))};
  }

  /* Name the verdicts of the bars, in their order. */
  legend(chart, verdicts) {
    const {make} = report, {quiet} = this.data.pictures;
    const items = verdicts.map(verdict => {
      const dot = make("i", {class: "dot"});
      dot.style.background = this.area_(verdict, quiet.includes(verdict) ? 0.45 : 0.8);
      return make("li", {}, dot, verdict);
    });
    const old = chart.getDom().parentNode.querySelector(".legend");
    const list = make("ul", {class: "legend", "aria-hidden": "true"}, ...items);
    if (old) old.replaceWith(list);
    else chart.getDom().after(list);
  }

  categories(names, width) {
    return {type: "category", data: names, axisTick: {show: false}, axisLine: {lineStyle: {color: this.line}},
      axisLabel: {color: this.text, width, overflow: "truncate"}};
  }

  /* Give a picture the height of its rows. */
  fit(chart, rows) {
    chart.getDom().style.height = `${Math.max(3, rows) * 27 + 16}px`;
    chart.resize();
  }

  horizontal(chart, rows, colour, filter) {
    const shown = rows.slice(0, 12).reverse();
    this.fit(chart, shown.length);
    return {...this.base(), grid: {left: 4, right: 56, top: 4, bottom: 4, containLabel: true},
      xAxis: {type: "value", axisLabel: {show: false}, splitLine: {show: false}},
      yAxis: this.categories(shown.map(row => row[0]), 160),
      series: [{type: "bar", barMaxWidth: 18, itemStyle: {color: colour, borderRadius: [0, 3, 3, 0]},
        label: {show: true, position: "right", color: this.soft, formatter: ({data}) => data.shown},
        data: shown.map(row => ({value: row[1], shown: row[1].toLocaleString("en"), tip: `${row[0]}: ${row[1].toLocaleString("en")}`, filter: filter?.(row)}))}]};
  }

  hosts(chart) { return this.horizontal(chart, this.data.pictures.hosts, report.blend(report.colour("accent"), this.back, 0.8), row => ({search: row[0]})); }

  layers(chart) { return this.horizontal(chart, this.data.pictures.layers, report.blend(report.colour("accent-2"), this.back, 0.8), row => ({layer: row[0]})); }

  flows(chart) {
    chart.resize(); // the card is as high as the one beside it
    const nodes = new Map(), links = new Map();
    const node = (side, name) => {
      const key = `${side} ${name}`;
      if (!nodes.has(key)) {
        const lost = name === "nowhere";
        nodes.set(key, {name: key, shown: name, depth: side === "old" ? 0 : 1, tip: name, filter: side === "old" && name !== "other sections" ? {section: name} : undefined,
          itemStyle: {color: lost ? this.verdict("lost") : report.colour("flow")},
          label: {position: side === "old" ? "right" : "left"}});
      }
      return key;
    };
    const flows = this.data.pictures.flows;
    const largest = side => {
      const sums = new Map();
      for (const row of flows) if (row[side]) sums.set(row[side], (sums.get(row[side]) || 0) + row[3]);
      return new Set([...sums].sort((a, b) => b[1] - a[1]).slice(0, MOST_NODES).map(one => one[0]));
    };
    const shown = [largest(0), largest(1)];
    const named = (side, name) => shown[side].has(name) ? name : "other sections";
    for (const [old, now, verdict, count] of flows) {
      const from = named(0, old || "/");
      const source = node("old", from), target = node("new", now ? named(1, now) : "nowhere");
      const key = `${source}\n${target}`;
      const link = links.get(key) || {source, target, value: 0, verdicts: {}, lost: !now, filter: shown[0].has(from) ? {section: from} : {}};
      link.value += count;
      link.verdicts[verdict] = (link.verdicts[verdict] || 0) + count;
      links.set(key, link);
    }
    for (const link of links.values()) {
      const parts = Object.entries(link.verdicts).map(([verdict, count]) => `${count.toLocaleString("en")} ${verdict}`);
      link.tip = `${link.source.slice(4)} → ${link.target.slice(4)}: ${parts.join(", ")}`;
      link.lineStyle = {color: link.lost ? this.verdict("lost") : report.colour("flow"), opacity: link.lost ? 0.55 : 0.28};
      const only = Object.keys(link.verdicts);
      if (only.length === 1) link.filter.verdict = only[0];
    }
    return {...this.base(), series: [{type: "sankey", data: [...nodes.values()], links: [...links.values()], left: 0, right: 0, top: 6, bottom: 6,
      draggable: false, nodeWidth: 10, nodeGap: 14, layoutIterations: 24,
      label: {color: this.text, fontSize: 12, textBorderColor: this.back, textBorderWidth: 2, formatter: ({data}) => data.shown,
        overflow: "truncate", width: Math.max(70, chart.getWidth() / 2 - 30)},
      emphasis: {focus: "none", lineStyle: {opacity: 0.6}}}]};
  }

  baseline(chart) {
    const sums = new Map();
    for (const [verdict, change, count] of this.data.pictures.baseline) {
      const both = sums.get(verdict) || {new: 0, healed: 0};
      both[change] += count;
      sums.set(verdict, both);
    }
    const names = [...sums.keys()].reverse();
    this.fit(chart, names.length + 1);
    const bar = (change, colour) => ({type: "bar", stack: "all", barMaxWidth: 18, itemStyle: {color: colour},
      data: names.map(verdict => {
        const value = sums.get(verdict)[change];
        return {value: change === "healed" ? -value : value, tip: `${verdict}: ${value.toLocaleString("en")} ${change}`, filter: change === "new" ? {verdict} : undefined};
      })});
    return {...this.base(), grid: {left: 4, right: 16, top: 4, bottom: 4, containLabel: true},
      xAxis: {type: "value", axisLabel: {color: this.soft, formatter: value => Math.abs(value).toLocaleString("en")}, splitLine: {lineStyle: {color: this.line}}},
      yAxis: this.categories(names, 120), series: [bar("healed", this.verdict("ok")), bar("new", this.verdict("broken"))]};
  }
};
