// The posterior of one strip of swaps as high as a table: the message over a column of swaps is held as a
// train of small arrays (rank x 3 x rank), one for each swap, and what each split leaves out is added up.
// tabprotect's column_trains.c does the same, and says why; names are those there.

const FLOOR = 0.03, NEVER = 1e-60, LEFT_OUT = [1e-9, 1e-13], REACH = 4, MOST_ERROR = 1e-3, TRIED_AGAIN = 400;

function normOf(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * values[i];
  return Math.sqrt(sum);
}

/** a (m x l) times b (l x n). */
function product(a, b, m, l, n) {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < l; j++) {
      const by = a[i * l + j];
      if (by) for (let k = 0; k < n; k++) out[i * n + k] += by * b[j * n + k];
    }
  }
  return out;
}

/** Vectors (m x length) as coefficients (m x found) of an orthonormal basis (found x length). */
function split(v, m, length, share) {
  const limit = Math.min(m, length), bases = [], along = [], norms = new Float64Array(m);
  let all = 0;
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < length; k++) norms[i] += v[i * length + k] ** 2;
    all += norms[i];
  }
  let left = all;
  while (bases.length < limit && (!bases.length || left > share * share * all)) {
    let at = 0;
    for (let i = 1; i < m; i++) if (norms[i] > norms[at]) at = i;
    const b = v.slice(at * length, (at + 1) * length);
    for (const one of bases) {
      let common = 0;
      for (let k = 0; k < length; k++) common += b[k] * one[k];
      for (let k = 0; k < length; k++) b[k] -= common * one[k];
    }
    const size = normOf(b), found = new Float64Array(m);
    if (!(size > 0)) break;
    for (let k = 0; k < length; k++) b[k] /= size;
    left = 0;
    for (let i = 0; i < m; i++) {
      if (!norms[i]) continue;
      for (let k = 0; k < length; k++) found[i] += v[i * length + k] * b[k];
      norms[i] = 0;
      for (let k = 0; k < length; k++) norms[i] += (v[i * length + k] -= found[i] * b[k]) ** 2;
      left += norms[i];
    }
    bases.push(b);
    along.push(found);
  }
  const n = bases.length, basis = new Float64Array(n * length), coefficients = new Float64Array(m * n);
  if (!n) throw new Impossible("no original fits");
  bases.forEach((b, g) => basis.set(b, g * length));
  for (let i = 0; i < m; i++) for (let g = 0; g < n; g++) coefficients[i * n + g] = along[g][i];
  return { found: n, basis, coefficients, rest: Math.sqrt(left) };
}

/** The columns of (rows x columns) as rows. */
function turned(values, rows, columns) {
  const out = new Float64Array(values.length);
  for (let i = 0, at = 0; i < columns; i++) for (let j = 0; j < rows; j++) out[at++] = values[j * columns + i];
  return out;
}

class TrainsReader {
  /** model: {columns, rows, cells, alpha, beta, gamma, rule}: flat cells column by column. */
  constructor(model, counts, structural) {
    Object.assign(this, { model, counts, structural, solved: new Map(), factors: new Map() });
    this.n = model.columns;
    this.k = model.rows - 1;
    this.place = new Map(model.cells.map((cell, place) => [cell, place]));
  }

  distribution(cell, prior) {
    const key = JSON.stringify(prior);
    const tries = this.model.cells.length > TRIED_AGAIN ? 1 : LEFT_OUT.length;
    for (let i = 0; i < tries && !this.solved.has(key); i++) {
      this.share = LEFT_OUT[i];
      const laws = this.solve(prior);
      if (2 * this.error <= MOST_ERROR) this.solved.set(key, laws);
    }
    if (!this.solved.has(key)) throw new Contradicted("what is assumed is too far from this table for this page");
    const law = this.solved.get(key)[this.place.get(cell)], out = {};
    law.forEach((chance, k) => { if (chance > 0) out[this.counts[cell] + k - REACH] = chance; });
    return out;
  }

  solve(prior) {
    const { n, k, model } = this;
    this.weights = prior.kind === "uniform" && !this.structural ? null : model.cells.map((cell) => {
      const logs = Array.from({ length: 2 * REACH + 1 },
        (_, i) => logWeight(prior, cell, this.counts[cell] + i - REACH, this.structural));
      const peak = Math.max(...logs);
      if (peak === -Infinity) throw new Impossible("no original fits");
      return logs.map((log) => Math.exp(log - peak));
    });
    this.laws = model.cells.map(() => new Float64Array(2 * REACH + 1));
    this.root = new Float64Array(n * k * 3);
    this.messages = [];
    this.leftOut = [];
    this.messages[n - 1] = { rank: new Array(k + 1).fill(1), core: Array.from({ length: k }, () => Float64Array.of(0, 1, 0)) };
    for (let i = 0; i < k; i++) this.root[((n - 1) * k + i) * 3 + 1] = 1;
    for (let c = n - 2; c >= 0; c--) {
      this.messages[c] = this.forward(c, null);
      this.leftOut[c] = this.sweptRight(this.messages[c]);
    }
    let now = this.firstOutside(), leftOut = this.sweptLeft(now);
    this.error = 0;
    for (let c = 0; c < n - 1; c++) {
      const lap = this.overlapped(this.messages[c], now), total = lap.right[0][0];
      for (let i = 0; i < k - 1; i++) {
        this.error += total > 0 ? (leftOut[i] + this.leftOut[c][i]) * lap.before[i] * lap.beyond[i + 2] / total : Infinity;
      }
      if (!c) this.firstLaws(now, lap);
      now = this.outwards(c, now);
      leftOut = this.sweptLeft(now);
    }
    return this.laws.map((law) => {
      const kept = law.map((chance) => Math.max(chance, 0)), total = kept.reduce((a, b) => a + b, 0);
      return kept.map((chance) => chance / total);
    });
  }

  weight(c, r, change) {
    return this.weights[c * (this.k + 1) + r][change + REACH];
  }

  /** Of one swap over x[r-1], x[r], x[r+1], y[r+1], y[r], with the weights of its cells. */
  factor(c, r) {
    const { counts, model } = this, h = this.k + 1;
    const at = (i, j) => Math.min(counts[model.cells[(c + i) * h + r + j]], 5);
    const [a, b, d, e] = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)], key = ((a * 6 + b) * 6 + d) * 6 + e;
    if (!this.factors.has(key)) {
      const out = new Float64Array(243);
      for (let i = 0; i < 243; i += 3) {
        const above = Math.floor(i / 81) - 1, x = Math.floor(i / 27) % 3 - 1;
        const x1 = Math.floor(i / 9) % 3 - 1, y1 = Math.floor(i / 3) % 3 - 1;
        const plus = Math.min(a, e + y1 + x - x1), minus = Math.min(b - y1, d + above - x);
        out.set(coinMasses(model, plus, minus), i);
      }
      this.factors.set(key, out);
    }
    const f = this.factors.get(key).slice();
    for (let i = 0; this.weights && i < 243; i++) {
      const x = Math.floor(i / 27) % 3 - 1, x1 = Math.floor(i / 9) % 3 - 1;
      const y1 = Math.floor(i / 3) % 3 - 1, y = i % 3 - 1;
      f[i] *= this.weight(c + 1, r + 1, x - x1 + y1 - y) * (r ? 1 : this.weight(c + 1, 0, y - x));
    }
    return f;
  }

  /** The factor times roots: what is summed out leaves its own, what comes gets it. */
  rooted(f, c, r) {
    const { k, root } = this, own = (c * k + r) * 3, after = (c + 1) * k * 3;
    const out = new Float64Array(243);
    for (let i = 0; i < 243; i++) {
      const by = root[own + i % 3];
      if (!f[i] || !(by > 0)) continue;
      out[i] = f[i] / by;
      if (r < k - 1) out[i] *= root[after + 3 * (r + 1) + Math.floor(i / 9) % 3];
      if (!r) out[i] *= root[after + Math.floor(i / 27) % 3];
    }
    return out;
  }

  /** Sums of a train before a bond, or from it on, times roots. */
  summed(train, column, bond, from, left) {
    const a = train.rank[bond], b = train.rank[bond + 1], core = train.core[bond];
    const to = new Float64Array(left ? b : a), at = (column * this.k + bond) * 3;
    for (let i = 0; i < a; i++) {
      for (let x = 0; x < 3; x++) {
        for (let j = 0; j < b; j++) {
          const term = core[(i * 3 + x) * b + j] * this.root[at + x];
          if (left) to[j] += term * from[i]; else to[i] += term * from[j];
        }
      }
    }
    return to;
  }

  told(c, r, joint, total) {
    const h = this.k + 1, law = this.laws[(c + 1) * h + r + 1], edge = this.laws[(c + 1) * h + r];
    for (let i = 0; i < 243; i++) {
      const x = Math.floor(i / 27) % 3, x1 = Math.floor(i / 9) % 3, y1 = Math.floor(i / 3) % 3, y = i % 3;
      law[x - x1 + y1 - y + REACH] += joint[i] / total;
      if (!r) edge[y - x + REACH] += joint[i] / total;
    }
  }

  /** From the message of the next column to that of one; the centres, where they are asked for, with known roots. */
  forward(c, centres) {
    const { k, root } = this, next = this.messages[c + 1], own = c * k * 3, after = own + k * 3;
    const to = { rank: new Array(k + 1).fill(1), core: [] };
    const sums = [Float64Array.of(1)];
    for (let i = 0; i < k; i++) sums.push(this.summed(next, c + 1, i, sums[i], true));
    let right = Float64Array.of(1), left = next.rank[k - 2], g = 1;
    let theta = product(next.core[k - 2], next.core[k - 1], left * 3, next.rank[k - 1], 3);
    for (let r = k - 1; r >= 0; r--) {
      const above = r ? 3 : 1, below = r < k - 1 ? 3 : 1, inner = 3 * below * below * g;
      if (r < k - 1 && r) {
        left = next.rank[r - 1];
        theta = product(next.core[r - 1], theta, left * 3, next.rank[r], inner);
      } else if (!r) left = 1;
      const size = normOf(theta);
      if (!(size > 0)) throw new Impossible("no original fits");
      theta = theta.map((value) => value / size);
      if (centres) centres[r] = { theta, left, right: g };
      const plain = this.factor(c, r), place = (a, x, x1, y1) => 81 * (r ? a : 1) + 27 * x + (r < k - 1 ? 9 * x1 + 3 * y1 : 12);
      const chance = [0, 0, 0];
      for (let a = 0; !centres && a < above; a++) {
        for (let x = 0; x < 3; x++) {
          for (let x1 = 0; x1 < below; x1++) {
            for (let y1 = 0; y1 < below; y1++) {
              let sum = 0;
              for (let l = 0; l < left; l++) {
                const t = ((((l * above + a) * 3 + x) * below + x1) * below + y1) * g;
                let part = 0;
                for (let j = 0; j < g; j++) part += theta[t + j] * right[j];
                sum += part * sums[r ? r - 1 : 0][l];
              }
              sum *= root[after + 3 * r + x] * (r ? root[after + 3 * (r - 1) + a] : 1);
              if (r < k - 1) sum *= root[after + 3 * (r + 1) + x1] * root[own + 3 * (r + 1) + y1];
              for (let y = 0; y < 3; y++) chance[y] += sum * plain[place(a, x, x1, y1) + y];
            }
          }
        }
      }
      if (!centres) {
        const total = chance[0] + chance[1] + chance[2];
        if (!(Math.abs(total) > 0)) throw new Impossible("no original fits");
        const support = chance.filter((one) => one / total >= NEVER).length;
        chance.forEach((one, y) => {
          root[own + 3 * r + y] = one / total >= NEVER ? Math.sqrt((one / total + FLOOR) / (1 + FLOOR * support)) : 0;
        });
      }
      const f = this.rooted(plain, c, r), m = r ? left * above * 9 : 3, length = below * g;
      const v = new Float64Array(m * length);
      for (let l = 0; l < left; l++) {
        for (let a = 0; a < above; a++) {
          for (let x = 0; x < 3; x++) {
            for (let y = 0; y < 3; y++) {
              const o = (r ? ((l * above + a) * 3 + x) * 3 + y : y) * length;
              for (let x1 = 0; x1 < below; x1++) {
                for (let y1 = 0; y1 < below; y1++) {
                  const by = f[place(a, x, x1, y1) + y], t = ((((l * above + a) * 3 + x) * below + x1) * below + y1) * g;
                  if (by) for (let j = 0; j < g; j++) v[o + y1 * g + j] += by * theta[t + j];
                }
              }
            }
          }
        }
      }
      if (centres) centres[r].rest = 0;
      if (r === k - 1) { theta = v; continue; }
      const { found, basis, coefficients, rest } = split(v, m, length, this.share);
      to.rank[r + 1] = found;
      to.core[r + 1] = basis;
      right = this.summed(to, c, r + 1, right, false);
      g = found;
      theta = coefficients;
      if (centres) centres[r].rest = rest;
    }
    to.core[0] = theta;
    return to;
  }

  /** Left-orthonormal cores, the centre at the last; what each split left out. */
  sweptRight(t) {
    const { k } = this, leftOut = [];
    for (let i = 0; i < k - 1; i++) {
      const a = 3 * t.rank[i], b = t.rank[i + 1], e = t.rank[i + 2];
      const { found, basis, coefficients, rest } = split(turned(t.core[i], a, b), b, a, this.share);
      leftOut.push(rest);
      t.core[i] = turned(basis, found, a);
      t.core[i + 1] = product(turned(coefficients, b, found), t.core[i + 1], found, b, 3 * e);
      t.rank[i + 1] = found;
    }
    return this.ended(t, k - 1, leftOut);
  }

  /** Right-orthonormal cores, the centre at the first. */
  sweptLeft(t) {
    const leftOut = [];
    for (let i = this.k - 1; i > 0; i--) {
      const a = t.rank[i], b = 3 * t.rank[i + 1], before = 3 * t.rank[i - 1];
      const { found, basis, coefficients, rest } = split(t.core[i].slice(), a, b, this.share);
      leftOut[i - 1] = rest;
      t.core[i] = basis;
      t.core[i - 1] = product(t.core[i - 1], coefficients, before, a, found);
      t.rank[i] = found;
    }
    return this.ended(t, 0, leftOut);
  }

  ended(t, centre, leftOut) {
    const size = normOf(t.core[centre]);
    if (!(size > 0)) throw new Impossible("no original fits");
    t.core[centre] = t.core[centre].map((value) => value / size);
    return leftOut.map((rest) => rest / size);
  }

  overlapped(m, t) {
    const { k } = this, left = [Float64Array.of(1)], right = [], before = [], beyond = [];
    right[k] = Float64Array.of(1);
    for (let i = 0; i < k; i++) {
      const a = m.rank[i], b = m.rank[i + 1], d = t.rank[i], e = t.rank[i + 1];
      const part = product(left[i], m.core[i], d, a, 3 * b);
      left.push(product(turned(t.core[i], 3 * d, e), part, e, 3 * d, b));
    }
    for (let i = k - 1; i >= 0; i--) {
      const a = m.rank[i], b = m.rank[i + 1], d = t.rank[i], e = t.rank[i + 1];
      const part = product(m.core[i], right[i + 1], 3 * a, b, e);
      right[i] = product(part, turned(t.core[i], d, 3 * e), a, 3 * e, d);
    }
    const one = (i) => m.rank[i] === 1 && t.rank[i] === 1;
    for (let i = 0; i <= k; i++) before.push(one(i) ? Math.abs(left[i][0]) : before[i - 1]);
    for (let i = k; i >= 0; i--) beyond[i] = one(i) ? Math.abs(right[i][0]) : beyond[i + 1];
    beyond[k + 1] = 1;
    return { left, right, before, beyond };
  }

  /** The weights of the first column, a train over its coefficients. */
  firstOutside() {
    const { k, root } = this, full = this.weights ? 3 : 1, t = { rank: [1], core: [] };
    for (let i = 0; i < k; i++) {
      const a = i ? full : 1, b = i < k - 1 ? full : 1, core = new Float64Array(a * 3 * b);
      for (let l = 0; l < a; l++) {
        for (let y = 0; y < 3; y++) {
          let by = root[3 * i + y];
          if (this.weights) {
            by *= this.weight(0, i, (i ? l - 1 : 0) - (y - 1));
            if (i === k - 1) by *= this.weight(0, k, y - 1);
          }
          core[(l * 3 + y) * b + (b === 3 ? y : 0)] = by;
        }
      }
      t.core.push(core);
      t.rank.push(b);
    }
    return t;
  }

  /** The laws of the first column, whose cells change by what is above less what is at them. */
  firstLaws(o, lap) {
    const { k } = this, m = this.messages[0];
    const pair = (t, first, last, above, y, r) => {
      const a = t.rank[first], p = t.rank[last], b = t.rank[last + 1];
      const part = (core, i, x, n, j) => core[(i * 3 + x) * n + j];
      const out = new Float64Array(a * b);
      for (let i = 0; i < a; i++) {
        for (let g = 0; g < b; g++) {
          if (first === last) out[i * b + g] = part(t.core[first], i, r ? above : y, b, g);
          else for (let n = 0; n < p; n++) out[i * b + g] += part(t.core[first], i, above, p, n) * part(t.core[last], n, y, b, g);
        }
      }
      return out;
    };
    for (let r = 0; r <= k; r++) {
      const law = this.laws[r], first = r ? r - 1 : r, last = r < k ? r : r - 1;
      const a = m.rank[first], b = m.rank[last + 1], d = o.rank[first], e = o.rank[last + 1];
      let total = 0;
      for (let above = r ? 0 : 1; above < (r ? 3 : 2); above++) {
        for (let y = r < k ? 0 : 1; y < (r < k ? 3 : 2); y++) {
          const one = product(lap.left[first], pair(m, first, last, above, y, r), d, a, b);
          const two = product(one, lap.right[last + 1], d, b, e), other = pair(o, first, last, above, y, r);
          const sum = two.reduce((all, value, i) => all + value * other[i], 0);
          law[above - y + REACH] += sum;
          total += sum;
        }
      }
      law.forEach((value, i) => { law[i] = value / total; });
    }
  }

  /** From the weights outside the message of a column to those of the next, and the laws of the cells between. */
  outwards(c, o) {
    const { k } = this, centres = [], next = this.messages[c + 1];
    const lap = this.overlapped(this.forward(c, centres), o), to = { rank: new Array(k + 1).fill(1), core: [] };
    let lo = 1, go = o.rank[Math.min(2, k)], overlap = Float64Array.of(1), before = 1;
    const start = product(o.core[0], o.core[1], 3, o.rank[1], 3 * go);
    let outside = new Float64Array(27 * go), size = normOf(start);
    for (let x = 0; x < 3; x++) outside.set(start, x * 9 * go);
    for (let r = 0; r < k; r++) {
      const above = r ? 3 : 1, below = r < k - 1 ? 3 : 1, bond = Math.min(r + 2, k);
      const { theta, left, right: g, rest: lost } = centres[r], rows = above * 3 * below * below;
      if (r) size = normOf(outside);
      const whole = product(product(overlap, theta, lo, left, rows * g), lap.right[bond], lo * rows, g, go);
      const f = this.rooted(this.factor(c, r), c, r), more = new Float64Array(lo * rows * go), joint = new Float64Array(243);
      for (let l = 0; l < lo; l++) {
        for (let a = 0; a < above; a++) {
          for (let x = 0; x < 3; x++) {
            for (let x1 = 0; x1 < below; x1++) {
              for (let y1 = 0; y1 < below; y1++) {
                const here = ((((l * above + a) * 3 + x) * below + x1) * below + y1) * go;
                const at = 81 * (r ? a : 1) + 27 * x + (r < k - 1 ? 9 * x1 + 3 * y1 : 12);
                for (let y = 0; y < 3; y++) {
                  const out = ((((l * above + a) * 3 + x) * 3 + y) * below + y1) * go;
                  let sum = 0;
                  for (let h = 0; h < go; h++) {
                    sum += whole[here + h] * outside[out + h];
                    more[here + h] += f[at + y] * outside[out + h];
                  }
                  joint[at + y] += f[at + y] * sum;
                }
              }
            }
          }
        }
      }
      const total = joint.reduce((a, b) => a + b, 0);
      if (!(Math.abs(total) > 0)) throw new Impossible("no original fits");
      this.told(c, r, joint, total);
      this.error += total > 0 ? lost * size * before * lap.beyond[bond] / total : Infinity;
      outside = more;
      if (r) {
        const length = 3 * lo, m = rows / 3 * go;
        const { found, basis, coefficients, rest } = split(turned(outside, length, m), m, length, this.share);
        this.error += total > 0 ? rest * before * lap.beyond[bond] / total : Infinity;
        const core = turned(basis, found, length), a = next.rank[r - 1], b = next.rank[r];
        to.rank[r - 1] = lo;
        to.rank[r] = found;
        to.core[r - 1] = core;
        outside = turned(coefficients, m, found);
        overlap = product(basis, product(overlap, next.core[r - 1], lo, a, 3 * b), found, length, b);
        lo = found;
        if (lo === 1 && b === 1) before = Math.abs(overlap[0]);
      }
      if (r === k - 1) {
        to.rank[k - 1] = lo;
        to.core[k - 1] = outside;
        break;
      }
      if (r + 2 < k) {
        const further = o.rank[r + 3];
        outside = product(outside, o.core[r + 2], lo * 27, go, 3 * further);
        go = further;
      }
      const norm = normOf(outside);
      if (!(norm > 0)) throw new Impossible("no original fits");
      outside = outside.map((value) => value / norm);
    }
    return to;
  }
}
