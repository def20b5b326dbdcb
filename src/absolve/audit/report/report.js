"use strict";
/* Start the report: connect the filters, the pictures and the list. */

/* Libraries write the attribute `style`, which the policy of this page forbids; the property is allowed. */
{
  const {setAttribute} = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style") this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

report.start = async function () {
  const data = report.data = await report.read();
  const index = new report.Index(data);
  const field = name => document.getElementById(name);
  const value = name => field(name)?.value ?? "";
  const detail = new report.Detail(data, index);
  const list = new report.List(data, index, number => detail.open(number, value("section"), value("layer")));
  const names = ["search", "verdict", "section", "kind", "layer"].filter(field);
  const status = field("status"), reset = field("reset");

  const update = async () => {
    const [query, verdict, section, kind, layer, sort] = ["search", "verdict", "section", "kind", "layer", "sort"].map(value);
    const found = index.find({query, verdict, section, kind, layer, sort, down: ["count", "pages", "requests"].includes(sort)});
    const count = found.rows.length.toLocaleString("en");
    status.textContent = `${count} of ${data.count.toLocaleString("en")} causes, ${found.findings.toLocaleString("en")} findings`;
    reset.disabled = !names.some(value);
    await list.show(found);
  };
  report.update = update;
  const filter = wanted => {
    for (const name of names) {
      const input = field(name), text = wanted[name] || "";
      input.value = !input.options || [...input.options].some(option => option.value === text) ? text : "";
    }
    update();
    field("causes").scrollIntoView({block: "start"});
    field("search").focus({preventScroll: true});
  };
  let timer = 0;
  field("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 60); });
  for (const name of [...names.slice(1), "sort"]) field(name).addEventListener("change", update);
  reset.addEventListener("click", () => {
    for (const name of names) field(name).value = "";
    update();
    field("search").focus();
  });
  document.addEventListener("click", event => {
    const button = event.target.closest("button[data-verdict], button[data-section], button[data-layer], button[data-search]");
    if (button) filter(button.dataset);
  });

  document.documentElement.classList.add("js");
  const pictures = report.pictures = new report.Pictures(data, filter);
  const areas = [...document.querySelectorAll("[data-area]")];
  const choose = area => {
    for (const other of areas) other.setAttribute("aria-pressed", String(other === area));
    pictures.area = Number(area.dataset.area);
    pictures.draw();
  };
  for (const area of areas) {
    area.disabled = !data.pictures.sections.some(row => row[area.dataset.area] && !data.pictures.quiet.includes(row[1]));
    area.addEventListener("click", () => choose(area));
  }
  if (areas[0]?.disabled) choose(areas.find(area => !area.disabled) ?? areas[0]);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pictures.draw());
  matchMedia("print").addEventListener("change", event => {
    for (const one of document.querySelectorAll(".reasons details")) one.open = event.matches;
    for (const one of document.querySelectorAll(".listing details")) one.open ||= event.matches;
    pictures.resize();
    pictures.draw();
  });
  await update();
  document.documentElement.dataset.ready = "true";
  setTimeout(() => index.rank("title"), 50); // before somebody asks for it
};

report.start().catch(error => {
  document.getElementById("status").textContent = "This browser cannot show the list: the table below has the largest causes.";
  document.documentElement.classList.remove("js");
  throw error;
});
