// Lists the links of a document in tree order, contents of templates and open shadow roots included; page scripts are
// off. `places`: namespace -> element -> attributes, all in lower case.
//
// A form's controls and a document's images hide properties of the same name, so getters are taken from prototypes.
(places) => {
  const get = (type, name, of) => Reflect.get(type.prototype, name, of);
  const anchor = Document.prototype.createElementNS.call(document, "http://www.w3.org/1999/xhtml", "a");
  const own = get(Document, "URL", document);
  const links = [];

  // HTML Standard 2.4.2, encoding-parsing-and-serializing a URL relative to the document; null where the parser fails.
  const resolve = (value) => {
    anchor.setAttribute("href", value);
    return anchor.protocol === ":" ? null : anchor.href;
  };

  const list = (root) => {
    for (const element of get(root.constructor, "querySelectorAll", root).call(root, "*")) {
      const name = get(Element, "localName", element).toLowerCase();
      const known = places[get(Element, "namespaceURI", element)] ?? {};
      for (const attribute of get(Element, "attributes", element)) {
        const written = attribute.name.toLowerCase();
        if (!known[name]?.includes(written) && !known["*"]?.includes(written)) continue;
        const value = attribute.value;
        // 4.2.3, base: its own href is relative to the document's fallback base URL
        const isBase = element instanceof HTMLBaseElement;
        const resolved = isBase ? (URL.canParse(value, own) ? element.href : null) : resolve(value);
        links.push([name, written, value, resolved]);
      }
      const inside = get(Element, "shadowRoot", element);
      if (inside) list(inside);
      if (element instanceof HTMLTemplateElement) list(element.content);
    }
  };

  list(document);
  return JSON.stringify({
    url: own,
    character_set: get(Document, "characterSet", document),
    base_uri: get(Node, "baseURI", document),
    links,
  });
}
