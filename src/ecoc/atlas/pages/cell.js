// A cell: its facts, its codebook, and the button that checks both.
"use strict";
(async () => {
  const {address, catalogue, expand, grid, load, lookUp, plural, shelf, text} = Atlas;
  const find = (id) => document.getElementById(id);
  const asked = new URLSearchParams(location.search);
  const [q, k, l] = ["q", "k", "l"].map((name) => Number(asked.get(name)));

  function fail(words) {
    find("title").textContent = "No such cell";
    find("verdict").replaceChildren(words, " ", text("a", "Find another one.",
      {href: "index.html#find"}));
    document.body.dataset.ready = "yes";
  }

  const {symbols, makers, sentences} = await catalogue();
  if (!symbols.includes(q)) {
    fail(`The atlas has codebooks of ${symbols.join(", ")} symbols.`);
    return;
  }
  const cells = await grid(q);
  const near = lookUp(cells, k, l);
  if (!near) {
    fail(`The atlas has no codebook of ${plural(q, "symbol")} for ${k} classes and ` +
      `${plural(l, "column")}.`);
    return;
  }
  const [argument, details, imbalance, digest, date, maker, code] = (await shelf(q, k))[l];
  const cell = {...near, q, argument, imbalance, digest, date, made: makers[maker], code};
  // Long proofs serve many cells and have files of their own.
  const proof = typeof details === "string" ? await load(`${q}/proofs/${details}`) : details;
  const [rows, recipe] = await expand(cell);
  const proved = cell.distance === cell.bound;
  const errors = Math.floor((cell.distance - 1) / 2);
  const name = `${k} classes, ${plural(l, "column")}, ${plural(q, "symbol")}`;

  // --- facts ---------------------------------------------------------------------------------

  document.title = `${name} - atlas of optimal codebooks`;
  find("title").textContent = name;
  find("verdict").append(
    text("strong", proved ? "Proved optimal" : `Open: between ${cell.distance} and ${cell.bound}`,
      {className: proved ? "good" : "bad"}),
    `. Least distance of rows ${cell.distance}: the decision survives ` +
    `${plural(errors, "wrong column")} or ${plural(cell.distance - 1, "silent one")}.`);
  const facts = [
    ["row distance", `${cell.distance}, at most ${cell.bound} possible`],
    ["column separation", cell.apartBound === null ? `${cell.apart}`
      : `${cell.apart}, at most ${cell.apartBound} possible` +
        (cell.apart < cell.apartBound ? " (open)" : "")],
    ["groups of a column", `differ by at most ${plural(cell.imbalance, "class", "classes")}`],
    ["made by", cell.made], ["date", cell.date], ["digest of the codebook", cell.digest],
  ];
  for (const [title, value] of facts) {
    const row = find("facts").insertRow();
    row.append(text("th", title, {scope: "row"}), text("td", value));
  }
  const neighbours = [[k - 1, l, "a class less"], [k + 1, l, "a class more"],
    [k, l - 1, "a column less"], [k, l + 1, "a column more"]];
  for (const [a, b, words] of neighbours) {
    if (lookUp(cells, a, b)) find("neighbours").append(text("a", words, {href: address(q, a, b)}));
  }
  const shown = Checks.isChecked(argument)
    ? Checks.checkBound(k, l, q, cell.bound, argument, proof) : sentences[argument];
  find("bound").textContent = `No codebook of this size with different columns has a distance ` +
    `above ${cell.bound}: ${shown}.`;
  find("argument").textContent = sentences[argument];
  const folded = document.createElement("details");
  folded.append(text("summary", `Data of the proof (${argument})`),
    text("pre", JSON.stringify(proof, null, 1)));
  find("proof").append(folded);
  find("made").textContent = cell.made;
  find("recipe").textContent = JSON.stringify(recipe);

  // --- the matrix ----------------------------------------------------------------------------

  const digits = "0123456789";
  // Of two symbols 0 is +1 and 1 is -1.
  const line = q === 2 ? (row) => Array.from(row, (s) => (s ? "-" : "+")).join("")
    : (row) => Array.from(row, (s) => digits[s]).join("");
  const entry = q === 2 ? (s) => (s ? -1 : 1) : (s) => s;
  const lines = rows.map(line);

  function paint() {
    const canvas = find("picture");
    const shown = Math.min(k, 1024);
    const size = Math.max(1, Math.min(12, Math.floor(1000 / Math.max(l, shown))));
    [canvas.width, canvas.height] = [l * size, shown * size];
    const style = getComputedStyle(document.documentElement);
    const shade = (s) => (q === 2 ? style.getPropertyValue(s ? "--minus" : "--plus")
      : `hsl(${(360 * s) / q} 55% 55%)`);
    const colours = Array.from({length: q}, (_, s) => shade(s));
    const pen = canvas.getContext("2d");
    rows.slice(0, shown).forEach((row, p) => row.forEach((s, j) => {
      pen.fillStyle = colours[s];
      pen.fillRect(j * size, p * size, size, size);
    }));
    canvas.setAttribute("aria-label", `The codebook: ${name}`);
    find("key").textContent = `A row for each class, a column for each learner` +
      (shown < k ? `; the first ${shown} of ${k} rows` : "") +
      (q === 2 ? "; blue is +1, grey is -1." : "; a colour for each symbol.");
  }
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  const SHOWN_ROWS = 400;
  find("text").textContent = lines.slice(0, SHOWN_ROWS).join("\n") +
    (k > SHOWN_ROWS ? `\n... ${k - SHOWN_ROWS} more rows in the downloads` : "");

  // --- downloads -----------------------------------------------------------------------------

  function codebookFile() {
    return JSON.stringify({format: "ecoc-codebook", version: 1, name: `atlas-${q}-${k}-${l}`,
      labels: null, provenance: {method: "atlas", parameters: {n_classes: k, n_columns: l,
        n_symbols: q, made: cell.made, date: cell.date}, seed: null},
      allow_repeated_columns: cell.apart === 0, ...(q > 2 && {n_symbols: q}), matrix: lines},
    null, 1) + "\n";
  }
  const heading = Array.from({length: l}, (_, j) => `f${j + 1}${q > 2 ? `:${q}` : ""}`).join(",");
  const numbers = (mark) => rows.map((row) => Array.from(row, entry).join(mark)).join("\n");
  const python = () => `import numpy as np\n\n# ${name}: row distance ${cell.distance}\n` +
    `ROWS = """\n${lines.join("\n")}\n""".split()\n` +
    (q === 2 ? 'codebook = np.array([[1 if s == "+" else -1 for s in row] for row in ROWS])\n'
      : "codebook = np.array([[int(s) for s in row] for row in ROWS])\n");
  const latex = () => `% ${name}: row distance ${cell.distance}\n\\left(\\begin{array}{*{${l}}{c}}\n` +
    rows.map((row) => Array.from(row, (s) => (q === 2 ? (s ? "-" : "+") : s)).join(" & "))
      .join(" \\\\\n") + "\n\\end{array}\\right)\n";
  const files = [
    ["JSON", "json", "application/json", codebookFile],
    ["CSV", "csv", "text/csv", () => `${heading}\n${numbers(",")}\n`],
    ["Text for numpy.loadtxt and savez", "txt", "text/plain", () => `${numbers(" ")}\n`],
    ["Python", "py", "text/x-python", python],
    ["LaTeX", "tex", "text/x-tex", latex],
  ];
  for (const [words, ending, type, make] of files) {
    const link = text("a", words, {download: `atlas-${q}-${k}-${l}.${ending}`, href: "#"});
    link.dataset.ending = ending;
    link.addEventListener("click", () => {
      link.href = URL.createObjectURL(new Blob([make()], {type}));
    }, {once: true});
    find("downloads").append(link);
  }

  // --- checks --------------------------------------------------------------------------------

  function says(output, verdict, good, items) {
    const list = document.createElement("ul");
    list.className = "checked";
    list.append(...items.map((item) => text("li", item)));
    output.replaceChildren(text("strong", verdict, {className: good ? "good" : "bad"}), list);
  }

  function guarded(output, run) {
    try {
      run();
    } catch (error) {
      says(output, "Refused", false, [error.message]);
    }
  }

  function distanceOf(matrix) {
    Checks.checkShape(matrix, k, l, q);
    const counts = Checks.spectrum(matrix, q);
    return [Checks.leastDistance(counts), counts];
  }

  function showSpectrum(counts) {
    const words = counts.map((count, d) => (count ? `${d}: ${count.toLocaleString("en")}` : ""));
    find("spectrum").textContent = `Distances of rows (distance: pairs): ` +
      words.filter(Boolean).join(", ");
  }

  // Counting takes a while only where there are very many pairs.
  const AT_ONCE = 1e8;
  if (k * k * l <= AT_ONCE) showSpectrum(Checks.spectrum(rows, q));

  find("check").addEventListener("click", () => guarded(find("checked"), () => {
    const began = performance.now();
    const [distance, counts] = distanceOf(rows);
    if (distance !== cell.distance) {
      throw new Checks.Refused(`the least distance of rows is ${distance}, not ${cell.distance}`);
    }
    const items = [`${plural((k * (k - 1)) / 2, "pair")} of rows counted: the least distance ` +
      `is ${distance}`];
    if (q === 2) {
      const apart = Checks.columnSeparation(rows);
      if (apart !== cell.apart) {
        throw new Checks.Refused(`columns are ${apart} apart, not ${cell.apart}`);
      }
      items.push(`columns are ${apart} apart`);
    }
    const checked = Checks.isChecked(argument);
    items.push(`a distance of ${cell.bound + 1} is impossible: ` + (checked
      ? Checks.checkBound(k, l, q, cell.bound, argument, proof)
      : `not checked here, ecoc verify does. ${sentences[argument]}`));
    showSpectrum(counts);
    const seconds = ((performance.now() - began) / 1000).toFixed(2);
    const verdict = !checked ? "Distance accepted; the bound was not checked here."
      : proved ? "Accepted: distance and bound agree."
        : "Accepted: distance and bound hold; between them the cell is open.";
    says(find("checked"), verdict, true,
    [...items, `checked in ${seconds} s`]);
  }));

  function read(words) {
    const read = words.split("\n").map((part) => part.trim()).filter(Boolean);
    const marked = read.every((part) => /^[+-]+$/.test(part));
    const matrix = read.map((part, p) => {
      if (marked) return Array.from(part, (s) => (s === "+" ? 1 : -1));
      const entries = /[\s,;]/.test(part) ? part.split(/[\s,;]+/).filter(Boolean) : [...part];
      if (!entries.every((s) => /^[+-]?\d+$/.test(s))) {
        throw new Checks.Refused(`line ${p + 1} is not a row of numbers`);
      }
      return entries.map(Number);
    });
    // Entries of +1 and -1 are the two symbols.
    const signed = q === 2 && matrix.some((row) => row.some((s) => s < 0));
    return matrix.map((row, p) => Uint8Array.from(row, (s) => {
      if (signed && s !== 1 && s !== -1) throw new Checks.Refused(`row ${p + 1} holds ${s}`);
      if (!signed && (s < 0 || s >= q)) throw new Checks.Refused(`row ${p + 1} holds ${s}`);
      return signed ? (1 - s) / 2 : s;
    }));
  }

  find("other").addEventListener("submit", (event) => {
    event.preventDefault();
    const output = find("other-checked");
    guarded(output, () => {
      const matrix = read(find("pasted").value);
      if (!matrix.length) throw new Checks.Refused("there is no matrix to check");
      const [distance] = distanceOf(matrix);
      const counted = `its least distance of rows is ${distance}; the atlas has ${cell.distance}`;
      if (distance < cell.distance) throw new Checks.Refused(counted);
      if (distance > cell.bound) throw new Checks.Refused(`${counted}; either the bound or this page is wrong`);
      says(output, distance > cell.distance ? "Better than the atlas: please submit it."
        : "Accepted: as good as the atlas.", true, [counted]);
    });
  });

  find("cell").hidden = false;
  document.body.dataset.ready = "yes";
})().catch((error) => {
  document.getElementById("verdict").textContent = `This cell could not be read: ${error.message}`;
  document.body.dataset.ready = "failed";
});
