// Reading the data of the atlas, and building codebooks from their recipes. Data come as scripts,
// because pages opened from a disk may load those and nothing else.
"use strict";
const Atlas = (() => {
  const waiting = new Map();
  const arrived = new Map();

  // Every data file calls this with its own path and what it holds.
  function take(path, data) {
    arrived.set(path, data);
  }

  function load(path) {
    if (!waiting.has(path)) {
      waiting.set(path, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = `data/${path}.js`;
        script.onload = () =>
          arrived.has(path) ? done(arrived.get(path)) : failed(new Error(`no data in ${path}`));
        script.onerror = () => failed(new Error(`the atlas has no file data/${path}.js`));
        document.head.append(script);
      }));
    }
    return waiting.get(path);
  }

  const catalogue = () => load("catalogue");
  const grid = (q) => load(`${q}/grid`);
  const shelf = (q, k) => load(`${q}/${k}`);

  // The facts of a cell in the grid; null where the atlas has none.
  function lookUp(cells, k, l) {
    const row = cells.rows[k];
    if (!row || l < row.first || l >= row.first + row.distances.length) return null;
    const i = l - row.first;
    if (row.distances[i] === null) return null;
    return {k, l, distance: row.distances[i], bound: row.bounds[i], apart: row.apart[i],
      apartBound: row.apartBounds[i]};
  }

  // --- recipes -------------------------------------------------------------------------------

  const MOST_ENTRIES = 1 << 24;
  const MOST_NESTED = 24;

  function wrong(reason) {
    throw new Error(`a recipe is wrong: ${reason}`);
  }

  function sized(k, l) {
    if (!(k > 0 && l > 0 && k * l <= MOST_ENTRIES)) wrong(`no matrix has ${k} rows and ${l} columns`);
  }

  function matrixOf(k, l, entry) {
    sized(k, l);
    return Array.from({length: k}, (_, p) => Uint8Array.from({length: l}, (_, j) => entry(p, j)));
  }

  function words(q, k, l, packed) {
    sized(k, l);
    let width = 1;
    while (2 ** width < q) width++;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    if (bytes.length !== Math.ceil((k * l * width) / 8)) wrong("words of another size");
    return matrixOf(k, l, (p, j) => {
      let symbol = 0;
      for (let at = (p * l + j) * width, i = 0; i < width; i++, at++) {
        symbol = 2 * symbol + ((bytes[at >> 3] >> (7 - (at & 7))) & 1);
      }
      return symbol;
    });
  }

  // Entry (x, y) is the symbol of y - x, or of x + y, in a product of cyclic groups.
  function developed(moduli, symbols, sign) {
    const size = moduli.reduce((a, b) => a * b, 1);
    if (size !== symbols.length) wrong("a group with another number of symbols");
    const values = Uint8Array.from(symbols, (digit) => parseInt(digit, 36));
    return matrixOf(size, size, (x, y) => {
      let [place, weight, left, right] = [0, 1, x, y];
      for (const modulus of [...moduli].reverse()) {
        place += weight * ((((right % modulus) + sign * (left % modulus)) + modulus) % modulus);
        weight *= modulus;
        left = Math.floor(left / modulus);
        right = Math.floor(right / modulus);
      }
      return values[place];
    });
  }

  function spanned(generators, chosen) {
    const bits = generators.map((word) => Uint8Array.from(word));
    return matrixOf(chosen.length, bits[0].length, (p, j) =>
      bits.reduce((sum, word, i) => sum ^ (((chosen[p] >> i) & 1) * word[j]), 0));
  }

  const upTo = (n) => Array.from({length: n}, (_, i) => i);

  function picked(rows, indices) {
    return indices.map((i) => rows[i] ?? wrong(`there is no row ${i}`));
  }

  const OPERATIONS = {
    words: (q, k, l, packed) => words(q, k, l, packed),
    fill: (q, k, l, symbol) => matrixOf(k, l, () => symbol),
    differences: (q, moduli, symbols) => developed(moduli, symbols, -1),
    sums: (q, moduli, symbols) => developed(moduli, symbols, 1),
    span: (q, generators) => spanned(generators, upTo(2 ** generators.length)),
    rows: (q, indices, a) => picked(a, indices),
    without: (q, indices, a) => {
      const left = upTo(a[0].length).filter((j) => !indices.includes(j));
      return a.map((row) => Uint8Array.from(left, (j) => row[j]));
    },
    beside: (q, ...parts) => {
      if (parts.some((part) => part.length !== parts[0].length)) wrong("sizes beside differ");
      return parts[0].map((_, p) => Uint8Array.from(parts.flatMap((part) => [...part[p]])));
    },
    below: (q, ...parts) => {
      if (parts.some((part) => part[0].length !== parts[0][0].length)) wrong("sizes below differ");
      return parts.flat();
    },
    negate: (q, a) => a.map((row) => row.map((s) => s ^ 1)),
    transpose: (q, a) => matrixOf(a[0].length, a.length, (p, j) => a[j][p]),
    normalise: (q, column, a) => a.map((row) => row.map((s) => s ^ row[column])),
    kron: (q, a, b) => matrixOf(a.length * b.length, a[0].length * b[0].length, (p, j) =>
      a[Math.floor(p / b.length)][Math.floor(j / b[0].length)] ^ b[p % b.length][j % b[0].length]),
  };

  const isRecipe = (value) => Array.isArray(value) && typeof value[0] === "string" &&
    (Object.hasOwn(OPERATIONS, value[0]) || value[0] === "use");

  // The matrix that a recipe stands for; matrices that it uses by name are loaded.
  async function matrix(recipe, q, depth = 0) {
    if (!isRecipe(recipe)) wrong("there is no such operation");
    if (depth > MOST_NESTED) wrong("it is nested too deep");
    const [name, ...given] = recipe;
    if (name === "use") return matrix(await load(`matrices/${given[0]}`), q, depth + 1);
    if (name === "span") return OPERATIONS.span(q, given[0]);
    if (name === "rows" && given[1][0] === "span") return spanned(given[1][1], given[0]);
    const values = [];
    for (const value of given) {
      values.push(isRecipe(value) ? await matrix(value, q, depth + 1) : value);
    }
    return OPERATIONS[name](q, ...values);
  }

  // The codebook of a cell: the first rows of its code.
  async function expand(cell) {
    const {recipe} = await load(`${cell.q}/codes/${cell.code}`);
    return [(await matrix(recipe, cell.q)).slice(0, cell.k), recipe];
  }

  const address = (q, k, l) => `cell.html?q=${q}&k=${k}&l=${l}`;

  const text = (tag, words, properties = {}) =>
    Object.assign(document.createElement(tag), {textContent: words}, properties);

  const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  return {address, catalogue, expand, grid, load, lookUp, plural, shelf, take, text};
})();
