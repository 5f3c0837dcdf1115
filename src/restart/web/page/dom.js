// Elements without markup: text from the cluster is only ever set as text.

// What is appended: lists within lists are taken apart, nothing and "" are left out.
function content(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== "" && child !== false);
}

// el("td", {class: "number"}, "12", otherElement): properties that begin with "on" are listeners.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content(children));
  return element;
}

export function link(target, ...children) {
  return el("a", { href: target }, ...children);
}

// A list of terms: pairs of a name and what it is; pairs without a value are left out.
export function facts(pairs) {
  const list = el("dl");
  for (const [name, value] of pairs)
    if (value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0))
      list.append(el("dt", {}, name), el("dd", {}, value));
  return list;
}

// A table that its heads sort. columns: {head, value(row), cell(row), number}; the order is kept across updates by
// `state`, an object that the caller keeps: {by, down}.
export function table(columns, rows, state, empty) {
  if (rows.length === 0) return el("p", { class: "empty" }, empty);
  const column = columns[state.by ?? 0];
  const sorted = [...rows].sort((one, other) => {
    const a = column.value(one),
      b = column.value(other);
    const order =
      typeof a === "number" && typeof b === "number"
        ? a - b
        : String(a).localeCompare(String(b), undefined, { numeric: true });
    return state.down ? -order : order;
  });
  const heads = columns.map((each, at) => {
    const now = at === (state.by ?? 0);
    const sort = () => {
      state.down = now ? !state.down : Boolean(each.number);
      state.by = at;
      state.changed();
    };
    return el(
      "th",
      {
        scope: "col",
        class: each.number ? "number" : null,
        "aria-sort": now ? (state.down ? "descending" : "ascending") : null,
      },
      el("button", { type: "button", id: `sort-${each.head}`, onclick: sort }, each.head),
    );
  });
  const body = sorted.map((row) =>
    el(
      "tr",
      {},
      columns.map((each) => el("td", { class: each.number ? "number" : null, "data-head": each.head }, each.cell(row))),
    ),
  );
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, body)));
}

// Replaces the children and keeps where the reader was: the scroll, and the focus on an element of the same id.
export function replace(element, ...children) {
  const focused = document.activeElement && element.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolls = [...element.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
  element.replaceChildren(...content(children));
  element.querySelectorAll(".scroll").forEach((each, at) => {
    each.scrollLeft = scrolls[at] ?? 0;
  });
  if (focused) document.getElementById(focused)?.focus();
}
