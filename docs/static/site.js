/* What keyboards and screen readers need and the theme lacks: names for both asides, a heading of the search, focus on boxes that scroll. */
addEventListener("DOMContentLoaded", () => {
  for (const [name, label] of [["sidebar", "All pages"], ["toc", "On this page"]]) {
    document.querySelector(`aside.${name}-drawer`)?.setAttribute("aria-label", label);
  }
  if (!document.querySelector("h1")) document.querySelector("article")?.insertAdjacentHTML("afterbegin", "<h1>Search</h1>");
  const boxes = document.querySelectorAll("article pre, article .table-wrapper");
  const mark = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  new ResizeObserver(mark).observe(document.documentElement);
});
