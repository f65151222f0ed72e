// What is asked of the page: the distribution of a true count under a prior.

/** Every table that can lie behind the release, each with the log of how likely it makes it. */
class ListedReader {
  /** model: {base, open, tables, logs}: counts of all cells, and of the open ones in each table. */
  constructor(model, structural) {
    Object.assign(this, { model, structural, known: new Map() });
  }

  weights(prior) {
    const { base, open, tables, logs } = this.model, log = (cell, n) => logWeight(prior, cell, n, this.structural);
    const shut = base.reduce((sum, n, cell) => sum + (open.includes(cell) ? 0 : log(cell, n)), 0);
    const each = tables.map((table, t) => table.reduce((sum, n, k) => sum + log(open[k], n), shut + logs[t]));
    const peak = each.reduce((a, b) => Math.max(a, b), -Infinity);
    if (peak === -Infinity) throw new Impossible("no original fits");
    const found = each.map((one) => Math.exp(one - peak)), total = found.reduce((a, b) => a + b, 0);
    return found.map((one) => one / total);
  }

  distribution(cell, prior) {
    const key = JSON.stringify(prior), at = this.model.open.indexOf(cell), law = {};
    if (!this.known.has(key)) this.known.set(key, this.weights(prior));
    if (at < 0) return { [this.model.base[cell]]: 1 };
    this.known.get(key).forEach((weight, t) => {
      const n = this.model.tables[t][at];
      if (weight > 0) law[n] = (law[n] || 0) + weight;
    });
    return law;
  }

  summands(weights, prior) {
    const law = new Map(), key = JSON.stringify(prior), { base, open, tables } = this.model;
    if (!this.known.has(key)) this.known.set(key, this.weights(prior));
    const shut = [...weights].reduce((sum, [cell, weight]) => sum + (open.includes(cell) ? 0 : weight * base[cell]), 0);
    const by = open.map((cell) => weights.get(cell) || 0);
    this.known.get(key).forEach((chance, t) => {
      const sum = tables[t].reduce((all, n, k) => all + by[k] * n, shut);
      if (chance > 0) law.set(sum, (law.get(sum) || 0) + chance);
    });
    return [{ law, draws: 0 }];
  }
}

class Reader {
  /** release: {domain: {variables, shape}, structural}; model: {way, ...}. */
  constructor(release, model) {
    this.shape = release.shape;
    this.model = model;
    this.exact = ["moves", "strip", "exchange", "factors", "listed"].includes(model.way);
    const structural = release.structural.length ? new Set(release.structural) : null;
    const size = this.shape.reduce((a, b) => a * b, 1);
    if (model.way === "moves") this.way = new MovesReader(model, release.tables[0].counts, structural);
    if (model.way === "strip") this.way = new TrainsReader(model, release.tables[0].counts, structural);
    if (model.way === "exchange") this.way = new ExchangeReader(model, release.tables[0].counts, structural);
    if (model.way === "listed") this.way = new ListedReader(model, structural);
    if (model.way === "factors") this.way = new FactorsReader(model, size, structural);
  }

  flat(index) {
    if (index.length !== this.shape.length) throw new RangeError("not a cell: " + index);
    return index.reduce((flat, i, axis) => {
      if (!Number.isInteger(i) || i < 0 || i >= this.shape[axis]) throw new RangeError("not a cell: " + index);
      return flat * this.shape[axis] + i;
    }, 0);
  }

  /** An object from possible count to probability. */
  distribution(index, prior = "uniform") {
    const cell = this.flat(index), believed = parsePrior(prior);
    if (this.exact) return { ...this.way.distribution(cell, believed) };
    if (this.model.way !== "kept") throw new Error("this page holds no distributions");
    if (believed.kind !== "uniform") {
      throw new Error("this page holds the distributions of a reader who assumes nothing, and no others");
    }
    const row = this.model.rows[this.model.row[cell]], first = this.model.first[cell], out = {};
    row.forEach((millionths, k) => { if (millionths > 0) out[first + k] = millionths / 1e6; });
    return out;
  }

  /** Whether sums of cells can be asked for. */
  get adds() {
    return this.exact || Boolean(this.model.draws);
  }

  /** The law of a sum of flat cells, each with its weight, and how many draws it rests on. */
  sum(weights, prior = "uniform") {
    const way = this.exact ? this.way : new ListedReader({ ...this.model.draws, logs: this.model.draws.tables.map(() => 0) }, null);
    const parts = way.summands(weights, parsePrior(prior));
    const draws = this.exact ? Math.min(...parts.map((one) => one.draws || Infinity)) : this.model.draws.worth;
    const work = parts.reduce(([size, all], { law }) => [Math.min(size * law.size, MOST_SUMS), all + size * law.size], [1, 0])[1];
    if (work <= MOST_SUMS) return { law: parts.reduce((law, one) => added(law, one.law), new Map([[0, 1]])), draws: Number.isFinite(draws) ? draws : 0 };
    const laws = parts.map(({ law }) => [...law]);
    return drawn((random) => laws.reduce((sum, law) => sum + picked(law, (one) => one[1], random)[0], 0));
  }

  /** What to use for a sum, a difference, a share or a rate of flat cells, with this chance at least. */
  number(kind, cells, others = [], level = 0.9, prior = "uniform") {
    return bestNumber(this, kind, cells, others, level, prior);
  }
}
