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
}

class Reader {
  /** release: {domain: {variables, shape}, structural}; model: {way, ...}. */
  constructor(release, model) {
    this.shape = release.shape;
    this.model = model;
    this.exact = ["moves", "factors", "listed"].includes(model.way);
    const structural = release.structural.length ? new Set(release.structural) : null;
    const size = this.shape.reduce((a, b) => a * b, 1);
    if (model.way === "moves") this.way = new MovesReader(model, release.tables[0].counts, structural);
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
}
