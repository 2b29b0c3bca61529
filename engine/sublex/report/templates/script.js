"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // At first, the best of the other systems is compared with the first system.
  const state = { measure: 0, a: 0, b: data.best, topic: 0 };
  const find = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // Nodes are built from text and attributes alone, so that no document or query can inject markup.
  function create(tag, attributes = {}, ...children) {
    const drawn = ["svg", "g", "rect", "line", "circle", "text", "title"].includes(tag);
    const node = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  function fill(node, ...children) { node.replaceChildren(...children); }

  const score = (topic, system) => data.topics[topic].scores[state.measure][system];
  const alone = data.systems.length < 2;
  const difference = (topic) => score(topic, state.b) - (alone ? 0 : score(topic, state.a));
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(4);
  const round = (value) => (Number.isInteger(value) ? String(value) : (value < 0 ? "−" : "") + Math.abs(value).toFixed(3));
  const nameOf = (topic) => data.topics[topic].qid + (data.topics[topic].text ? ": " + data.topics[topic].text : "");
  const short = (text, size) => (text.length > size ? text.slice(0, size - 1) + "…" : text);
  let sorted = [];

  function select(id, options, chosen, changed) {
    const node = find(id);
    fill(node, ...options.map((text, place) => create("option", { value: place }, short(text, 70))));
    node.value = chosen;
    node.addEventListener("change", () => { changed(Number(node.value)); draw(); });
  }

  function choose(topic, scroll) {
    state.topic = topic;
    find("topic").value = topic;
    bars(); panel(); scatters();
    if (scroll) find("panel").scrollIntoView({ block: "nearest" });
  }

  function bars() {
    // One unit is one pixel, so that the labels keep their size on a narrow page.
    const width = find("bars").clientWidth || 1000, height = 260, top = 8, bottom = 252, count = sorted.length;
    const most = Math.max(1e-9, ...sorted.map((topic) => Math.abs(difference(topic))));
    const low = Math.min(0, ...sorted.map(difference)), high = Math.max(0, ...sorted.map(difference));
    const span = (high - low) || most;
    const at = (value) => bottom - ((value - low) / span) * (bottom - top);
    const step = (width - 60) / count, thick = Math.max(0.6, step - Math.min(2, step / 4));
    const parts = sorted.map((topic, place) => {
      const value = difference(topic), y = Math.min(at(value), at(0)), tall = Math.max(1.5, Math.abs(at(value) - at(0)));
      const kind = value > 0 ? "up" : value < 0 ? "down" : "same";
      const x = 60 + place * step;
      return create("g", { class: topic === state.topic ? "here" : "", "data-topic": data.topics[topic].qid, onclick: () => choose(topic, true) },
        create("title", {}, nameOf(topic) + " " + signed(value)),
        create("rect", { class: "whole", x, y: top, width: step, height: bottom - top }),
        create("rect", { class: kind, x: x + (step - thick) / 2, y, width: thick, height: tall }));
    });
    const label = (value) => create("text", { x: 52, y: at(value) + 4, "text-anchor": "end" }, value === 0 ? "0" : round(value));
    const plot = create("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "listbox", "aria-label": "Differences by topic, the best first", onkeydown: moveByKey },
      create("line", { class: "zero", x1: 60, x2: width, y1: at(0), y2: at(0) }), label(0),
      high > 0 ? label(high) : null, low < 0 ? label(low) : null, ...parts);
    const focused = find("bars").contains(document.activeElement);
    fill(find("bars"), plot);
    if (focused) plot.focus();
  }

  function moveByKey(event) {
    const place = sorted.indexOf(state.topic);
    const next = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: sorted.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(sorted[Math.max(0, Math.min(sorted.length - 1, next))], false);
  }

  function panel() {
    const topic = data.topics[state.topic];
    const facts = [topic.relevant + " relevant"];
    if (topic.length !== null) facts.push(topic.length + (topic.length === 1 ? " term" : " terms"));
    const shown = data.systems.length > 1 ? [state.b, state.a].filter((x, k, all) => all.indexOf(x) === k) : [0];
    fill(find("panel"),
      create("h3", {}, "Topic " + nameOf(state.topic)),
      ...Object.entries(topic.fields).map(([name, text]) => create("p", {}, create("b", {}, name + " "), short(text, 600))),
      create("p", { class: "hint" }, facts.join(" · ")),
      create("div", { class: "row" }, ...shown.map((system) => ranking(topic, system, shown.find((other) => other !== system)))));
  }

  function ranking(topic, system, other) {
    const items = topic.lists[system].slice(0, 20).map((place, rank) => {
      const [docno, title] = data.documents[place];
      const grade = topic.grades[place];
      return create("li", { "data-doc": place, onmouseenter: () => pair(place, true), onmouseleave: () => pair(place, false) },
        create("span", { class: "rank" }, String(rank + 1)), movement(topic, place, rank, other),
        create("span", { class: "grade" + (grade > 0 ? " yes" : ""), title: grade === undefined ? "not judged" : "grade " + grade }, grade === undefined ? "–" : String(grade)),
        create("span", { class: "doc" }, create("b", {}, docno), " ", create("span", {}, title)));
    });
    const head = data.systems[system] + ": " + data.measures[state.measure] + " " + topic.scores[state.measure][system].toFixed(4);
    return create("div", {}, create("h3", {}, head),
      items.length ? create("ol", { class: "ranking" }, ...items) : create("p", {}, "No documents found."));
  }

  function movement(topic, place, rank, other) {
    if (other === undefined) return create("span", { class: "move" });
    const there = topic.lists[other].indexOf(place);
    if (there < 0) {
      const known = topic.lists[other].length >= data.depth;
      return create("span", { class: "move rose", title: known ? "not among the first " + data.depth + " of the other system" : "not found by the other system" }, known ? "▲ >" + data.depth : "only");
    }
    const change = there - rank;
    const text = change > 0 ? "▲" + change : change < 0 ? "▼" + -change : "=";
    return create("span", { class: "move" + (change > 0 ? " rose" : change < 0 ? " fell" : ""), title: "rank " + (there + 1) + " in the other system" }, text);
  }

  function pair(place, on) {
    for (const item of find("panel").querySelectorAll(`li[data-doc="${place}"]`)) item.classList.toggle("same", on);
  }

  function hurt() {
    const worse = sorted.filter((topic) => score(topic, state.b) < (1 - data.hurt) * score(topic, state.a)).reverse();
    if (data.systems.length < 2) return fill(find("hurt"));
    const rows = worse.map((topic) => create("tr", {},
      create("td", {}, create("button", { type: "button", class: "link", onclick: () => choose(topic, true) }, short(nameOf(topic), 90))),
      ...[score(topic, state.a), score(topic, state.b)].map((value) => create("td", { class: "n" }, value.toFixed(4))),
      create("td", { class: "n" }, signed(difference(topic)))));
    const head = ["topic", data.systems[state.a], data.systems[state.b], "difference"];
    fill(find("hurt"),
      create("details", {},
        create("summary", {}, `${worse.length} of ${data.topics.length} topics hurt by more than ${Math.round(100 * data.hurt)} %`),
        create("div", { class: "scroll" }, create("table", {},
          create("thead", {}, create("tr", {}, ...head.map((text, k) => create("th", k ? { class: "n" } : {}, text)))),
          create("tbody", {}, ...rows)))));
    find("hurt").querySelectorAll("table").forEach(sortable);
  }

  function scatters() {
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const kinds = [
      ["terms in the query", (topic) => data.topics[topic].length],
      ["relevant documents", (topic) => data.topics[topic].relevant],
      ["easiness: mean " + data.measures[state.measure] + " of all systems", (topic) => mean(data.topics[topic].scores[state.measure])],
    ];
    fill(find("scatters"), ...kinds.filter(([, x]) => x(0) !== null).map(([label, x]) => scatter(label, x)));
  }

  function scatter(label, x) {
    const topics = data.topics.map((_, place) => place);
    const xs = topics.map(x), ys = topics.map(difference);
    const left = 52, right = 316, top = 8, bottom = 190;
    const span = (values) => { const low = Math.min(...values), high = Math.max(...values); return [low, (high - low) || Math.abs(low) || 1]; };
    const [x0, xw] = span(xs), [y0, yw] = span([...ys, 0]);
    const at = (a, b) => [left + 6 + ((a - x0) / xw) * (right - left - 12), bottom - 6 - ((b - y0) / yw) * (bottom - top - 12)];
    const axis = (a, b, text, anchor) => create("text", { x: a, y: b, "text-anchor": anchor }, text);
    const zero = at(x0, 0)[1];
    const points = topics.map((topic) => {
      const [a, b] = at(xs[topic], ys[topic]);
      return create("circle", { class: topic === state.topic ? "here" : "", cx: a, cy: b, r: 4, onclick: () => choose(topic, true) },
        create("title", {}, `${nameOf(topic)}: ${round(xs[topic])}, ${signed(ys[topic])}`));
    });
    const plot = create("svg", { viewBox: "0 0 320 230", role: "img", "aria-label": "Difference against " + label },
      create("g", { class: "axis" }, create("line", { x1: left, x2: right, y1: bottom, y2: bottom }), create("line", { class: "grid", x1: left, x2: right, y1: zero, y2: zero }),
        axis(left - 6, zero + 4, "0", "end"), axis(left, bottom + 15, round(x0), "start"), axis(right, bottom + 15, round(x0 + xw), "end"),
        axis((left + right) / 2, 222, label, "middle"),
        Math.abs(at(x0, y0 + yw)[1] - zero) > 14 ? axis(left - 6, at(x0, y0 + yw)[1] + 4, round(y0 + yw), "end") : null,
        Math.abs(at(x0, y0)[1] - zero) > 14 ? axis(left - 6, at(x0, y0)[1] + 4, round(y0), "end") : null),
      ...points);
    return create("figure", {}, plot);
  }

  function sentence() {
    const [a, b] = [data.systems[state.a], data.systems[state.b]];
    const known = data.sentences[a + "\n" + b] || data.sentences[b + "\n" + a] || "";
    find("sentence").textContent = known;
  }

  function draw() {
    sorted = data.topics.map((_, topic) => topic).sort((x, y) => difference(y) - difference(x) || x - y);
    sentence(); bars(); panel(); hurt(); scatters();
  }

  // Tables are sorted by a click on a head, or by Enter on it; a second click turns the order round.
  function sortable(table) {
    table.classList.add("sortable");
    for (const head of table.tHead.rows[0].cells) {
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(table, head));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, head); });
    }
  }

  function sort(table, head) {
    const column = head.cellIndex, figures = head.classList.contains("n");
    const sorted = head.getAttribute("aria-sort");
    const up = sorted ? sorted === "descending" : !figures;
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row.cells[column], figures), row]);
    // Cells without a figure stay below.
    const order = (a, b) => (figures ? a - b : a.localeCompare(b, "en", { numeric: true }));
    rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : up ? order(a, b) : order(b, a)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function key(cell, figures) {
    if (!figures) return cell.textContent.trim();
    const text = cell.textContent.trim().replace("−", "-").replace(/^< \./, "0.0");
    const number = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? null : number;
  }

  function download(name, type, text) {
    const link = create("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  find("csv").addEventListener("click", () => {
    const rows = [["topic", "measure", ...data.systems]];
    for (const topic of data.topics) topic.scores.forEach((values, measure) => rows.push([topic.qid, data.measures[measure], ...values.map(String)]));
    download("scores.csv", "text/csv", rows.map((row) => row.map(cell).join(",")).join("\n") + "\n");
  });
  find("json").addEventListener("click", () => download("comparison.json", "application/json", find("data").textContent));

  select("measure", data.measures, state.measure, (value) => { state.measure = value; });
  select("a", data.systems, state.a, (value) => { state.a = value; });
  select("b", data.systems, state.b, (value) => { state.b = value; });
  select("topic", data.topics.map((_, topic) => nameOf(topic)), 0, (value) => { state.topic = value; });
  draw();
  choose(sorted[0], false);
  for (const table of document.querySelectorAll("table:not(.sortable)")) sortable(table);
  window.addEventListener("resize", bars);
})();
