// What the reader's browser computes for itself: distances of rows, and the arithmetic of bounds.
// Whole numbers without limit (BigInt) wherever a product may grow; nothing is taken on trust.
"use strict";
const Checks = (() => {
  class Refused extends Error {}

  function refuse(condition, reason) {
    if (condition) throw new Refused(reason);
  }

  const choose2 = (k) => (k * (k - 1n)) / 2n;

  function choose(n, r) {
    if (r < 0n || r > n) return 0n;
    let value = 1n;
    for (let i = 0n; i < r; i++) value = (value * (n - i)) / (i + 1n);
    return value;
  }

  // A row is an Uint8Array of symbols. Two symbols go into words of 32 bits.
  function packed(rows) {
    return rows.map((row) => {
      const words = new Uint32Array((row.length + 31) >> 5);
      row.forEach((symbol, i) => { words[i >> 5] |= symbol << (i & 31); });
      return words;
    });
  }

  function ones(word) {
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    return (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }

  // How many pairs of rows have each distance, from 0 to the number of columns.
  function spectrum(rows, nSymbols) {
    const counts = new Array(rows[0].length + 1).fill(0);
    const words = nSymbols === 2 ? packed(rows) : rows;
    for (let p = 1; p < rows.length; p++) {
      const a = words[p];
      for (let r = 0; r < p; r++) {
        const b = words[r];
        let distance = 0;
        if (nSymbols === 2) for (let i = 0; i < a.length; i++) distance += ones((a[i] ^ b[i]) | 0);
        else for (let i = 0; i < a.length; i++) distance += a[i] !== b[i];
        counts[distance]++;
      }
    }
    return counts;
  }

  const leastDistance = (counts) => counts.findIndex((count) => count > 0);

  // The least distance of two columns of two symbols, a column and its complement being one.
  function columnSeparation(rows) {
    const [k, n] = [rows.length, rows[0].length];
    const columns = Array.from({length: n}, (_, j) => Uint8Array.from(rows, (row) => row[j]));
    const words = packed(columns);
    let least = k;
    for (let j = 1; j < n; j++) {
      for (let i = 0; i < j; i++) {
        let apart = 0;
        for (let w = 0; w < words[i].length; w++) apart += ones((words[i][w] ^ words[j][w]) | 0);
        least = Math.min(least, apart, k - apart);
      }
    }
    return least;
  }

  function checkShape(rows, k, n, nSymbols) {
    refuse(rows.length !== k, `there are ${rows.length} rows where ${k} are needed`);
    rows.forEach((row, p) => {
      refuse(row.length !== n, `row ${p + 1} has ${row.length} columns where ${n} are needed`);
      const large = row.findIndex((symbol) => symbol >= nSymbols);
      refuse(large >= 0, `row ${p + 1} has the symbol ${row[large]} where ${nSymbols} are allowed`);
    });
    for (let j = 0; j < n; j++) {
      const same = rows.every((row) => row[j] === rows[0][j]);
      refuse(same, `column ${j + 1} gives all classes the same symbol`);
    }
  }

  // Pairs that k rows in q groups leave together at the least.
  function leastTogether(k, q) {
    const size = k / q;
    return q * choose2(size) + (k - q * size) * size;
  }

  // How many columns separate so many pairs; of two symbols they are counted by the smaller side.
  function* kinds(k, q, enough) {
    if (q === 2n) {
      for (let side = k / 2n; side > 0n; side--) {
        const count = choose(k, side);
        yield [side * (k - side), 2n * side === k ? count / 2n : count];
      }
      return;
    }
    for (let together = leastTogether(k, q); together < choose2(k); together++) {
      let count = 0n;
      for (const sizes of partitions(k, q, k, together)) {
        count += waysToSplit(sizes);
        if (count >= enough) break;
      }
      if (count > 0n) yield [choose2(k) - together, count];
    }
  }

  function* partitions(k, q, largest, together) {
    if (k === 0n) {
      if (together === 0n) yield [];
      return;
    }
    if (q === 0n || leastTogether(k, q) > together) return;
    for (let size = k < largest ? k : largest; size > 0n && size * q >= k; size--) {
      const rest = together - choose2(size);
      if (rest < 0n) continue;
      for (const others of partitions(k - size, q - 1n, size, rest)) yield [size, ...others];
    }
  }

  function waysToSplit(sizes) {
    let left = sizes.reduce((a, b) => a + b, 0n);
    let [count, alike] = [1n, 0n];
    sizes.forEach((size, i) => {
      count *= choose(left, size);
      left -= size;
      alike = i > 0 && sizes[i - 1] === size ? alike + 1n : 1n;
      count /= alike;
    });
    return count;
  }

  // The most pairs that L different columns separate in all.
  function largestSum(k, q, n) {
    let [left, total] = [n, 0n];
    for (const [separated, count] of kinds(k, q, n)) {
      const taken = left < count ? left : count;
      total += taken * separated;
      left -= taken;
      if (left === 0n) break;
    }
    return [n - left, total];
  }

  // Distances of rows with an even and an odd weight: even within, odd across.
  function leastSum(k, d) {
    const odd = d % 2n;
    let least = null;
    for (let a = 0n; a <= k / 2n; a++) {
      const inside = choose2(a) + choose2(k - a);
      const sum = (d + odd) * inside + (d + 1n - odd) * a * (k - a);
      if (least === null || sum < least) least = sum;
    }
    return least;
  }

  function averaging(k, q, n, d) {
    const [, total] = largestSum(k, q, n);
    refuse(choose2(k) * d <= total, "the sum of distances leaves room for a larger one");
    return `${choose2(k)} pairs at distance ${d} need ${choose2(k) * d}; ` +
      `${n} columns give at most ${total}`;
  }

  function parity(k, q, n, d) {
    refuse(q !== 2n, "parities are for two symbols");
    const [, total] = largestSum(k, q, n);
    const needed = leastSum(k, d);
    refuse(needed <= total, "the sum of distances leaves room for a larger one");
    return `with their parities, distances of at least ${d} add up to at least ${needed}; ` +
      `${n} columns give at most ${total}`;
  }

  // For two symbols a parity bit makes all distances even.
  const even = (q, n, d) => (q === 2n && d % 2n ? [n + 1n, d + 1n] : [n, d]);

  function plotkin(k, q, n, d, proof) {
    const [length, distance] = even(q, n, d);
    const shortened = BigInt(proof.shortened);
    refuse(shortened < 0n || shortened > length, "shortened is out of range");
    let left = k;
    for (let i = 0n; i < shortened; i++) left = (left + q - 1n) / q;
    const most = (length - shortened) * (choose2(left) - leastTogether(left, q));
    refuse(distance * choose2(left) <= most, "the rows that agree leave room");
    return `at least ${left} rows agree in ${shortened} places; their ${choose2(left)} pairs at ` +
      `distance ${distance} need ${distance * choose2(left)}, the other places give ${most}`;
  }

  function singleton(k, q, n, d) {
    const words = q ** (n - d + 1n);
    refuse(k <= words, "there are places enough");
    return `${n - d + 1n} places hold only ${words} different words`;
  }

  function hamming(k, q, n, d) {
    let [length, distance] = even(q, n, d);
    if (distance % 2n === 0n) [length, distance] = [length - 1n, distance - 1n];
    let [ball, shell] = [0n, 1n];
    for (let i = 0n; i <= (distance - 1n) / 2n; i++) {
      ball += shell;
      shell = (shell * (length - i) * (q - 1n)) / (i + 1n);
    }
    refuse(k * ball <= q ** length, "the balls have room");
    return `${k} balls of ${ball} words do not fit into ${q}^${length} words`;
  }

  // How many words of a weight fit, by the path of Johnson's recursion.
  function constantWeight(n, d, weight, steps) {
    refuse(!/^[01]*$/.test(steps) || steps.length > n, "steps must consist of 0 and 1");
    let length = n - BigInt(steps.length);
    let held = weight - BigInt([...steps].filter((step) => step === "1").length);
    refuse(held < 0n || held > length, "steps lead to a weight that does not exist");
    let most = 1n;
    if (2n * held >= d) {
      const room = held * held - held * length + (d / 2n) * length;
      refuse(room <= 0n, "steps end where nothing is proved");
      most = ((d / 2n) * length) / room;
    }
    for (const step of [...steps].reverse()) {
      length++;
      if (step === "1") held++;
      most = (length * most) / (step === "1" ? held : length - held);
    }
    return most;
  }

  function johnson(k, q, n, d, proof) {
    refuse(q !== 2n, "Johnson's bound is for two symbols");
    const [length, distance] = even(q, n, d);
    const weight = BigInt(proof.weight);
    refuse(weight < 0n || weight > length, "weight is out of range");
    const most = constantWeight(length, distance, weight, proof.steps);
    const [left, right] = [k * choose(length, weight), most << (length - 1n)];
    refuse(left <= right, "words of this weight leave room");
    return `some translation gives weight ${weight} to more than ${most} of ${k} rows, and only ` +
      `${most} such words fit`;
  }

  function delsarte(k, q, n, d, proof) {
    const [length, distance] = even(q, n, d);
    const size = Number(length);
    refuse(size > 256, "Delsarte's bound is checked up to length 256");
    const c = proof.multipliers.map(BigInt);
    refuse(!c.length || c.length > size + 1 || c[0] <= 0n, "the first multiplier must be positive");
    refuse(c.some((factor) => factor < 0n), "a multiplier is negative");
    // Coefficients of (1 - x)^j (1 + (q - 1) x)^(n - j), for j = 0, 1, ...
    let values = Array.from({length: size + 1}, (_, i) =>
      choose(length, BigInt(i)) * (q - 1n) ** BigInt(i));
    const sums = new Array(size + 1).fill(0n);
    c.forEach((factor) => {
      if (factor) values.forEach((value, i) => { sums[i] += factor * value; });
      const quotient = [values[0]];
      for (let i = 1; i < size; i++) quotient.push(values[i] - (q - 1n) * quotient[i - 1]);
      quotient.push(0n);
      values = quotient.map((value, i) => (i ? value - quotient[i - 1] : value));
    });
    const relaxed = new Map();
    let allowance = 0n;
    for (const [at, u, steps] of proof.weights ?? []) {
      refuse(q !== 2n || u < 0 || at < 0 || at > size, "an allowance is out of range");
      refuse(relaxed.has(at), "a distance has two allowances");
      const weight = BigInt(Math.min(at, size - at));
      relaxed.set(at, BigInt(u));
      allowance += BigInt(u) * constantWeight(length, distance, weight, steps);
    }
    for (let i = Number(distance); i <= size; i += q === 2n ? 2 : 1) {
      const allowed = (relaxed.get(i) ?? 0n) * choose(length, BigInt(i));
      refuse(sums[i] > allowed, `the sum at distance ${i} is too large`);
    }
    const total = c.reduce((a, b) => a + b, 0n) + allowance;
    refuse(k * c[0] <= total, "the multipliers leave room");
    return `the multipliers of Delsarte's linear program allow ${total / c[0]} rows, not ${k}`;
  }

  // Every column there is: none can be exchanged for another.
  function exhaustive(k, q, n) {
    let all = 0n;
    for (const [, count] of kinds(k, q, n + 1n)) all += count;
    refuse(all !== n, `there are ${all} columns, not ${n}`);
    return `the codebook has all ${n} columns that there are`;
  }

  const ARGUMENTS = {averaging, parity, plotkin, singleton, hamming, johnson, delsarte, exhaustive};

  const isChecked = (argument) => Object.hasOwn(ARGUMENTS, argument);

  // Whether a larger distance than the bound is refuted; says how, or throws what is wrong.
  function checkBound(k, n, q, bound, argument, proof) {
    if (bound >= n) return "no distance is larger than the number of columns";
    refuse(!isChecked(argument), `there is no argument named ${argument}`);
    const [rows, symbols, columns] = [BigInt(k), BigInt(q), BigInt(n)];
    return ARGUMENTS[argument](rows, symbols, columns, BigInt(bound) + 1n, proof);
  }

  return {Refused, checkBound, checkShape, columnSeparation, isChecked, leastDistance, spectrum};
})();
if (typeof module !== "undefined") module.exports = Checks;
