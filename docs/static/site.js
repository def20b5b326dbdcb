/* What keyboards and screen readers need and the theme lacks: names for both asides, and boxes that scroll take the focus. */
addEventListener("DOMContentLoaded", () => {
  for (const [name, label] of [["sidebar", "All pages"], ["toc", "On this page"]]) {
    document.querySelector(`aside.${name}-drawer`)?.setAttribute("aria-label", label);
  }
  const boxes = document.querySelectorAll("article pre, article .table-wrapper");
  const mark = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  new ResizeObserver(mark).observe(document.documentElement);
});
