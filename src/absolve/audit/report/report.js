"use strict";
/* Start the report: connect the filters, the list of causes and the table of old URLs. */

report.start = async function () {
  const data = report.data = await report.read();
  const index = new report.Index(data);
  const field = name => document.getElementById(name);
  const value = name => field(name)?.value ?? "";
  const on = (name, event, work) => field(name)?.addEventListener(event, work);
  const typed = work => { let timer = 0; return () => { clearTimeout(timer); timer = setTimeout(work, 60); }; };
  const causes = field("list") && new report.Causes(data, index); // none without findings
  const names = ["search", "verdict", "section", "kind", "layer"];

  const update = report.update = () => {
    const [query, verdict, section, kind, layer, sort] = [...names, "sort"].map(value);
    const found = causes.show({query, verdict, section, kind, layer, sort});
    field("status").textContent = `${report.number(found.rows.length)} of ${report.number(data.count)} shown, with ${report.noun(found.findings, "finding")}.`;
    field("reset").disabled = !names.some(value);
  };
  const filter = wanted => {
    for (const name of names.filter(field)) field(name).value = [...field(name).options || []].some(one => one.value === wanted[name]) ? wanted[name] : "";
    update();
    field("causes").scrollIntoView();
    field("search").focus({preventScroll: true});
  };
  on("search", "input", typed(update));
  for (const name of [...names.slice(1), "sort"]) on(name, "change", update);
  on("reset", "click", () => filter({}));
  document.addEventListener("click", event => {
    const button = event.target.closest("button[data-verdict], button[data-section], button[data-layer]");
    if (button && causes) filter(button.dataset);
  });

  if (field("urls")) {
    const urls = report.urls = new report.Urls(data, index);
    const show = report.updateUrls = () => {
      const found = urls.show({query: value("url-search"), verdict: value("url-verdict")});
      field("url-status").textContent = `${report.number(found.length)} of ${report.noun(data.urls.url.length, "old URL")} shown.`;
    };
    on("url-search", "input", typed(show));
    on("url-verdict", "change", show);
    on("save", "click", () => {
      const address = URL.createObjectURL(new Blob([urls.csv()], {type: "text/csv"}));
      report.make("a", {href: address, download: "old-urls.csv"}).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
      const cut = urls.rows.filter(number => Object.values(urls.cells(number)).some(text => typeof text === "string" && report.isCut(text))).length;
      field("said").textContent = `${report.noun(urls.rows.length, "row")} saved as old-urls.csv${cut ? `, ${report.number(cut)} with a text that is cut after 600 characters` : ""}.`;
    });
    show();
  }

  const opened = []; // for paper
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.fill?.(5);
      one.open = true;
      opened.push(one);
    }
  });
  addEventListener("afterprint", () => { for (const one of opened.splice(0)) one.open = false; });
  if (causes) update();
  document.documentElement.classList.add("js");
  document.documentElement.dataset.ready = "true";
};

report.start().catch(error => {
  document.getElementById("said").textContent = (document.getElementById("status") || {}).textContent = "This browser cannot show more than the largest causes.";
  throw error;
});
