// The posterior where cells exchanged units: the steps are run once more from the published table. These are
// independent draws under the law that the steps keep; another belief weighs them.

const FEWEST_WORTH = 50;

class ExchangeReader {
  /** model: {strata, rows, columns, rate, theta, draws, cells, nobody}; cells by place, stratum after stratum. */
  constructor(model, counts, structural) {
    Object.assign(this, { model, counts, structural, known: new Map() });
  }

  /** Of each draw the cells that changed, and by how much. */
  get changes() {
    if (this.run) return this.run;
    const { strata, rows, columns, rate, draws, cells, nobody } = this.model, random = seeded(), size = rows * columns;
    const closed = new Set(nobody), begun = cells.map((cell) => this.counts[cell]);
    this.run = Array.from({ length: draws }, () => new Map());
    for (let w = 0; w < strata; w++) {
      const first = w * size, now = begun.slice(first, first + size), filled = [], at = new Int32Array(size);
      const steps = nearest(rate * now.reduce((a, b) => a + b, 0));
      now.forEach((n, k) => { if (n) { at[k] = filled.length; filled.push(k); } });
      const shut = now.map((_, k) => closed.has(cells[first + k]));
      const put = (k, by) => {
        const before = now[k];
        now[k] += by;
        if (!before) { at[k] = filled.length; filled.push(k); }
        if (now[k]) return;
        const last = filled.pop();
        if (last !== k) { filled[at[k]] = last; at[last] = at[k]; }
      };
      for (const change of this.run) {
        const mine = new Map();
        for (let n = 0; n < steps && filled.length; n++) {
          const m = filled.length, p = filled[Math.floor(random() * m)], q = filled[Math.floor(random() * m)], u = random();
          const r = p - p % columns + q % columns, s = q - q % columns + p % columns;
          if (r === p || r === q || shut[r] || shut[s]) continue;
          const then = m - (now[p] === 1) - (now[q] === 1) + (now[r] === 0) + (now[s] === 0);
          const odds = (now[p] * now[q]) / ((now[r] + 1) * (now[s] + 1));
          if (u >= (m / then) ** 2 * odds ** this.model.theta) continue;
          for (const [k, by] of [[p, -1], [q, -1], [r, 1], [s, 1]]) {
            put(k, by);
            mine.set(k, (mine.get(k) || 0) + by);
          }
        }
        for (const [k, by] of mine) {
          if (!by) continue;
          change.set(cells[first + k], by);
          put(k, -by);
        }
      }
    }
    return this.run;
  }

  /** The share of each draw under a prior. */
  weights(prior) {
    const key = JSON.stringify(prior), { counts } = this, { theta } = this.model;
    if (this.known.has(key)) return this.known.get(key);
    const log = (cell, n) => logWeight(prior, cell, n, this.structural) + theta * logFactorial(n);
    const before = counts.map((n, cell) => log(cell, n)), none = before.filter((one) => one === -Infinity).length;
    const each = this.changes.map((change) => {
      let sum = 0, impossible = none;
      for (const [cell, by] of change) {
        const then = log(cell, counts[cell] + by);
        impossible += (then === -Infinity) - (before[cell] === -Infinity);
        sum += (then === -Infinity ? 0 : then) - (before[cell] === -Infinity ? 0 : before[cell]);
      }
      return impossible ? -Infinity : sum;
    });
    const peak = each.reduce((a, b) => Math.max(a, b), -Infinity);
    if (peak === -Infinity) throw new Contradicted();
    const found = each.map((one) => Math.exp(one - peak)), total = found.reduce((a, b) => a + b, 0);
    const shares = found.map((one) => one / total), worth = 1 / shares.reduce((sum, one) => sum + one * one, 0);
    if (worth < FEWEST_WORTH) throw new Contradicted();
    this.known.set(key, { shares, worth: Math.round(worth) });
    return this.known.get(key);
  }

  distribution(cell, prior) {
    return Object.fromEntries(this.summands(new Map([[cell, 1]]), prior)[0].law);
  }

  summands(weights, prior) {
    const { shares, worth } = this.weights(prior), law = new Map();
    const begun = [...weights].reduce((sum, [cell, weight]) => sum + weight * this.counts[cell], 0);
    this.changes.forEach((change, t) => {
      let sum = begun;
      for (const [cell, weight] of weights) sum += weight * (change.get(cell) || 0);
      if (shares[t] > 0) law.set(sum, (law.get(sum) || 0) + shares[t]);
    });
    return [{ law, draws: worth }];
  }
}

/** The nearest whole number, of two the even one. */
function nearest(x) {
  const low = Math.floor(x), rest = x - low;
  return rest === 0.5 ? low + (low % 2) : Math.round(x);
}
