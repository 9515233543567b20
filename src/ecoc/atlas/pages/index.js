// The front page: questions, the map, and the cells that are open.
"use strict";
(async () => {
  const {address, catalogue, grid, lookUp, plural, text} = Atlas;
  const find = (id) => document.getElementById(id);
  const {symbols} = await catalogue();
  const chosen = {q: symbols[0], goal: "distance"};
  const SHOWN = 40;

  const openDistance = (cell) => cell.bound - cell.distance;
  const openApart = (cell) => (cell.apartBound === null ? 0 : cell.apartBound - cell.apart);

  // --- questions -----------------------------------------------------------------------------

  function answer(form, parts) {
    form.querySelector("output").replaceChildren(...parts);
  }

  function told(q, cell) {
    const errors = Math.floor((cell.distance - 1) / 2);
    const link = text("a", `${cell.k} classes, ${plural(cell.l, "column")}`,
      {href: address(q, cell.k, cell.l)});
    const gap = openDistance(cell);
    const proof = gap === 0 ? "no codebook has more, proved"
      : `no codebook has more than ${cell.bound}`;
    return [link, `: distance ${cell.distance} (${proof}); ` +
      `${plural(errors, "wrong column")} or ${plural(cell.distance - 1, "silent one")} survived.`];
  }

  function range(cells, k) {
    const row = cells.rows[k];
    if (row) return `For ${k} classes the atlas has ${row.first} to ` +
      `${row.first + row.distances.length - 1} columns.`;
    const all = Object.keys(cells.rows).map(Number);
    return `With this number of symbols the atlas has ${Math.min(...all)} to ` +
      `${Math.max(...all)} classes, not all of them for many.`;
  }

  find("by-columns").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target;
    const [q, k, l] = [form.q, form.k, form.l].map((field) => Number(field.value));
    const cells = await grid(q);
    const cell = lookUp(cells, k, l);
    answer(form, cell ? told(q, cell) : [`No such cell. ${range(cells, k)}`]);
  });

  find("by-errors").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target;
    const [q, k, t] = [form.q, form.k, form.t].map((field) => Number(field.value));
    const needed = Math.max(1, {wrong: 2 * t + 1, silent: t + 1, distance: t}[form.what.value]);
    const cells = await grid(q);
    const row = cells.rows[k];
    const at = row ? row.distances.findIndex((distance) => distance >= needed) : -1;
    if (at < 0) {
      answer(form, [`The atlas has no codebook for this. ${range(cells, k)}`]);
      return;
    }
    const least = row.bounds.findIndex((bound) => bound >= needed);
    const why = least === at
      ? ` Fewer than ${row.first + at} columns cannot do it.`
      : ` Fewer than ${row.first + least} columns cannot do it; between, it is not known.`;
    answer(form, [...told(q, lookUp(cells, k, row.first + at)), why]);
  });

  // --- the map -------------------------------------------------------------------------------

  const canvas = find("cells");
  const levels = [["--proved", "proved optimal"], ["--gap1", "gap of 1"], ["--gap2", "gap of 2"],
    ["--gap3", "gap of 3 or more"]];

  function extent(cells) {
    // Powers of two beyond the last run of classes would leave the map empty.
    const all = Object.keys(cells.rows).map(Number).sort((a, b) => a - b);
    let last = all[0];
    for (const k of all) if (k === last + 1) last = k;
    const lowest = all.filter((k) => k <= last)
      .map((k) => cells.rows[k].first + cells.rows[k].distances.length);
    return [Math.max(...lowest), last + 1];
  }

  async function draw() {
    const cells = await grid(chosen.q);
    const style = getComputedStyle(document.documentElement);
    const [width, height] = extent(cells);
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    const colours = levels.map(([name]) => style.getPropertyValue(name));
    for (const [k, row] of Object.entries(cells.rows)) {
      for (let i = 0; i < row.distances.length && k < height; i++) {
        const cell = lookUp(cells, Number(k), row.first + i);
        if (!cell || (chosen.goal === "separation" && cell.apartBound === null)) continue;
        const gap = chosen.goal === "distance" ? openDistance(cell) : openApart(cell);
        pen.fillStyle = colours[Math.min(gap, 3)];
        pen.fillRect(cell.l, Number(k), 1, 1);
      }
    }
    canvas.setAttribute("aria-label", `Map of cells of ${chosen.q} symbols by ${chosen.goal}`);
    find("legend").replaceChildren(...levels.map(([name, words]) => {
      const item = text("span", words);
      const swatch = document.createElement("i");
      swatch.style.background = `var(${name})`;
      item.prepend(swatch);
      return item;
    }));
    find("pointed").textContent = axes();
    listOpen(cells);
  }

  const axes = () => `Left to right: 0 to ${canvas.width - 1} columns. ` +
    `Top to bottom: 0 to ${canvas.height - 1} classes.`;

  async function pointedCell(event) {
    const box = canvas.getBoundingClientRect();
    const l = Math.floor(((event.clientX - box.left) / box.width) * canvas.width);
    const k = Math.floor(((event.clientY - box.top) / box.height) * canvas.height);
    return lookUp(await grid(chosen.q), k, l);
  }

  canvas.addEventListener("pointermove", async (event) => {
    const cell = await pointedCell(event);
    find("pointed").textContent = cell
      ? `${cell.k} classes, ${plural(cell.l, "column")}: distance ${cell.distance} of ` +
        `${cell.bound} possible, columns ${cell.apart} apart` +
        (cell.apartBound === null ? "" : ` of ${cell.apartBound}`)
      : axes();
  });
  canvas.addEventListener("click", async (event) => {
    const cell = await pointedCell(event);
    if (cell) location.href = address(chosen.q, cell.k, cell.l);
  });

  function choose(group, name, value) {
    chosen[name] = value;
    for (const button of find(group).children) {
      button.setAttribute("aria-pressed", String(button.dataset[name] === String(value)));
    }
    draw();
  }

  for (const q of symbols) {
    const button = text("button", plural(q, "symbol"), {type: "button"});
    button.dataset.q = q;
    button.setAttribute("aria-pressed", String(q === chosen.q));
    button.addEventListener("click", () => choose("symbols", "q", q));
    find("symbols").append(button);
  }
  for (const button of find("goals").children) {
    button.addEventListener("click", () => choose("goals", "goal", button.dataset.goal));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  // --- open cells ----------------------------------------------------------------------------

  let listed = [];

  function listOpen(cells) {
    const distance = chosen.goal === "distance";
    const gap = distance ? openDistance : openApart;
    listed = [];
    for (const [k, row] of Object.entries(cells.rows)) {
      for (let i = 0; i < row.distances.length; i++) {
        const cell = lookUp(cells, Number(k), row.first + i);
        if (cell && gap(cell) > 0) listed.push(cell);
      }
    }
    const total = Object.values(cells.rows).flatMap((row) => row.distances).filter(Boolean).length;
    find("open-count").textContent = `${plural(listed.length, "cell")} of ` +
      `${total.toLocaleString("en")} with ${plural(chosen.q, "symbol")} ` +
      `${listed.length === 1 ? "is" : "are"} open in ` +
      `${distance ? "the row distance" : "the separation of columns"}.`;
    find("open-cells").tBodies[0].replaceChildren();
    showMore();
  }

  function showMore() {
    const body = find("open-cells").tBodies[0];
    const distance = chosen.goal === "distance";
    for (const cell of listed.slice(body.rows.length, body.rows.length + SHOWN)) {
      const row = body.insertRow();
      const [have, bound] = distance ? [cell.distance, cell.bound] : [cell.apart, cell.apartBound];
      row.insertCell().append(text("a", cell.k, {href: address(chosen.q, cell.k, cell.l)}));
      for (const value of [cell.l, have, bound, bound - have]) row.insertCell().append(value);
    }
    find("more").hidden = body.rows.length >= listed.length;
  }

  find("more").addEventListener("click", showMore);
  await draw();
  document.body.dataset.ready = "yes";
})();
