// What is asked of the page: the distribution of a true count under a prior.

class Reader {
  /** release: {domain: {variables, shape}, structural}; model: {way, ...}. */
  constructor(release, model) {
    this.shape = release.shape;
    this.model = model;
    this.exact = model.way === "moves" || model.way === "factors";
    const structural = release.structural.length ? new Set(release.structural) : null;
    const size = this.shape.reduce((a, b) => a * b, 1);
    if (model.way === "moves") this.way = new MovesReader(model, release.tables[0].counts, structural);
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
