// The search of the entry page: titles, paths and texts, all of which are in this page. It works from a disk.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const MOST = 200, BEFORE = 60, AFTER = 160; // results; characters of a text around what was found
  const input = $("search"), tree = $("pages"), list = $("results"), found = $("found");
  const fold = (text) => text.toLowerCase();
  let pages = null;
  let waiting = 0;

  function loaded() {
    const texts = JSON.parse($("texts").textContent);
    return [...tree.querySelectorAll("a")].map((link, number) => {
      const href = link.getAttribute("href");
      let path = href;
      try { path = decodeURIComponent(href).replace(/^_\//, ""); } catch { /* a path that is no UTF-8 stays as it is */ }
      const text = texts[number];
      return { href, path, title: link.textContent, names: fold(link.textContent + "\n" + path), text, folded: fold(text) };
    });
  }

  // Pages with all words: those that have most of them in their title or path come first.
  function matches(words) {
    const ranks = words.map(() => []).concat([[]]);
    for (const page of pages) {
      const rest = words.filter((word) => !page.names.includes(word));
      if (rest.every((word) => page.folded.includes(word))) ranks[rest.length].push(page);
    }
    return ranks.flat();
  }

  // The text around the longest word that is in it, with all words marked.
  function excerpt(page, words) {
    const shown = document.createElement("p");
    const longest = words.filter((word) => page.folded.includes(word)).sort((one, other) => other.length - one.length)[0];
    if (!longest || page.folded.length !== page.text.length) return shown;
    const place = page.folded.indexOf(longest), blank = page.text.indexOf(" ", Math.max(0, place - BEFORE));
    const start = place < BEFORE ? 0 : blank < place ? blank + 1 : place, end = start + BEFORE + AFTER;
    let at = start;
    while (at < end) {
      const next = words.map((word) => [page.folded.indexOf(word, at), word.length]).filter(([place]) => place >= 0);
      const [place, length] = next.sort((one, other) => one[0] - other[0] || other[1] - one[1])[0] || [end, 0];
      if (place >= end) break;
      const mark = document.createElement("mark");
      mark.textContent = page.text.slice(place, place + length);
      shown.append(page.text.slice(at, place), mark);
      at = place + length;
    }
    shown.append(page.text.slice(at, Math.max(at, end)));
    if (start) shown.prepend("\u2026");
    if (end < page.text.length) shown.append("\u2026");
    return shown;
  }

  function shownAs(page, words) {
    const item = document.createElement("li"), link = document.createElement("a"), path = document.createElement("small");
    link.href = page.href;
    link.textContent = page.title;
    path.textContent = page.path;
    item.append(link, path, excerpt(page, words));
    return item;
  }

  function search() {
    const words = [...new Set(fold(input.value).split(/\s+/).filter(Boolean))].slice(0, 20);
    tree.hidden = words.length > 0;
    if (!words.length) {
      list.replaceChildren();
      found.textContent = "";
      return;
    }
    pages ??= loaded();
    const every = matches(words);
    list.replaceChildren(...every.slice(0, MOST).map((page) => shownAs(page, words)));
    const number = every.length.toLocaleString("en"), noun = every.length === 1 ? "page" : "pages";
    const more = every.length > MOST ? `; the first ${MOST} are shown` : "";
    found.textContent = every.length ? `${number} ${noun} found${more}` : "No page found";
  }

  input.form.hidden = false;
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 80);
  });
  addEventListener("pageshow", () => input.value && search()); // a reader who comes back
})();
