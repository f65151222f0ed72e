// The exact posterior where cycles were added and subtracted by coins: variable elimination.
//
// A variable is what one cycle added in one pass: -1, 0 or 1. Backwards, the chance of a step
// depends on its own variable and on those of the later steps that touch its cells. Cells that the
// same cycles touch alike are one group. Everything is in logarithms; tables have one axis of three
// places for each variable, the first one slowest.

const IMPOSSIBLE = -1e8, FAR = 1e9;

/** Every place of a table with these axes, and its index in tables over some of them. */
function placesIn(axes, scopes) {
  const size = 3 ** axes.length;
  return scopes.map((scope) => {
    const step = axes.map((v) => {
      const at = scope.indexOf(v);
      return at < 0 ? 0 : 3 ** (scope.length - 1 - at);
    });
    const out = new Int32Array(size);
    for (let k = axes.length - 1, filled = 1; k >= 0; k--, filled *= 3) {
      for (let i = 0; i < filled; i++) {
        out[filled + i] = out[i] + step[k];
        out[2 * filled + i] = out[i] + 2 * step[k];
      }
    }
    return out;
  });
}

/** log-sum-exp of the three blocks along the first axis. */
function withoutFirst(table) {
  const size = table.length / 3, out = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const a = table[i], b = table[size + i], c = table[2 * size + i], top = Math.max(a, b, c);
    out[i] = top === -Infinity ? top
      : top + Math.log(Math.exp(a - top) + Math.exp(b - top) + Math.exp(c - top));
  }
  return out;
}

/** Sums over all axes that are not in the scope. */
function summed(weights, axes, scope) {
  const out = new Float64Array(3 ** scope.length), [at] = placesIn(axes, [scope]);
  for (let i = 0; i < weights.length; i++) out[at[i]] += weights[i];
  return out;
}

/** Chances of -1, 0, 1 given the smallest counts after the step among cells added to and taken from. */
function coinMasses(model, plus, minus) {
  const { alpha, beta, gamma, rule } = model;
  if (rule === "none") return [beta, gamma, alpha];
  if (rule === "any_zero") {
    return [plus >= 0 && minus >= 2 ? beta : 0, plus <= 0 || minus <= 0 ? 1 : gamma,
      plus >= 2 && minus >= 0 ? alpha : 0];
  }
  return [plus >= 0 && minus >= 1 ? beta : 0,
    gamma + (minus <= 0 ? alpha : 0) + (plus <= 0 ? beta : 0),
    plus >= 1 && minus >= 0 ? alpha : 0];
}

/** The same for the rule "reversible", from log ratios of the worth of the neighbouring tables. */
function ratioMasses({ alpha, beta, gamma }, plus, minus) {
  const up = plus > IMPOSSIBLE ? Math.exp(Math.min(plus, 0)) : 0;
  const down = minus > IMPOSSIBLE ? Math.exp(Math.min(minus, 0)) : 0;
  const fromAbove = plus > IMPOSSIBLE ? Math.exp(Math.min(-plus, 0)) : 0;
  const fromBelow = minus > IMPOSSIBLE ? Math.exp(Math.min(-minus, 0)) : 0;
  return [beta * fromAbove, gamma + alpha * (1 - up) + beta * (1 - down), alpha * fromBelow];
}

/** The cheaper of two orders, a sweep by number and least degree first. */
function eliminationOrder(scopes) {
  const near = scopes.map(() => new Set());
  for (const scope of scopes) for (const v of scope) for (const u of scope) if (u !== v) near[v].add(u);
  const orders = [true, false].map((sweep) => {
    const left = new Map(near.map((others, v) => [v, new Set(others)])), order = [];
    let held = 0;
    while (left.size) {
      let v = -1, degree = Infinity;
      for (const [u, others] of left) {
        if (others.size < degree) { v = u; degree = others.size; }
        if (sweep) break;
      }
      const joined = left.get(v);
      left.delete(v);
      held += 3 ** (1 + joined.size);
      if (held > 1e9) return { held: Infinity };
      order.push([v, joined]);
      for (const u of joined) {
        const own = left.get(u);
        own.delete(v);
        for (const w of joined) if (w !== u) own.add(w);
      }
    }
    return { order, held };
  });
  return (orders[1].held < orders[0].held ? orders[1] : orders[0]).order;
}

class MovesReader {
  /** model: {cycles: {starts, cells, signs}, alpha, beta, gamma, passes, rule, theta}. */
  constructor(model, counts, structural) {
    Object.assign(this, { model, counts, structural, parts: new Map(), solved: new Map() });
    const { starts, cells, signs } = model.cycles;
    this.touching = new Map();
    for (let i = 0; i + 1 < starts.length; i++) {
      for (let k = starts[i]; k < starts[i + 1]; k++) {
        if (!this.touching.has(cells[k])) this.touching.set(cells[k], []);
        this.touching.get(cells[k]).push([i, signs[k]]);
      }
    }
  }

  distribution(cell, prior) {
    this.allows(prior);
    if (!this.touching.has(cell)) return { [this.counts[cell]]: 1 };
    const part = this.part(cell);
    const key = JSON.stringify(prior);
    if (!this.solved.has(key)) this.solved.set(key, new Map());
    const known = this.solved.get(key);
    if (!known.has(part)) known.set(part, this.solve(part, prior));
    const changes = known.get(part)[part.groupOf.get(cell)], out = {};
    for (const [change, chance] of changes) if (chance > 0) out[this.counts[cell] + change] = chance;
    return out;
  }

  /** Throws where a prior excludes the count of a cell that no cycle touches. */
  allows(prior) {
    if (prior.kind === "uniform" && !this.structural) return;
    for (let cell = 0; cell < this.counts.length; cell++) {
      if (!this.touching.has(cell)
          && logWeight(prior, cell, this.counts[cell], this.structural) === -Infinity) {
        throw new Impossible("no cycle touches a cell whose published count the prior excludes");
      }
    }
  }

  /** The cycles that hang together with those through a cell, and the groups of their cells. */
  part(cell) {
    if (this.parts.has(cell)) return this.parts.get(cell);
    const { starts, cells } = this.model.cycles;
    const met = new Set([cell]), cycles = new Set(), open = [cell];
    while (open.length) {
      for (const [i] of this.touching.get(open.pop())) {
        if (cycles.has(i)) continue;
        cycles.add(i);
        for (let k = starts[i]; k < starts[i + 1]; k++) {
          if (!met.has(cells[k])) { met.add(cells[k]); open.push(cells[k]); }
        }
      }
    }
    const number = new Map([...cycles].sort((a, b) => a - b).map((i, n) => [i, n]));
    const groups = [], groupOf = new Map(), known = new Map();
    for (const c of [...met].sort((a, b) => a - b)) {
      const touch = this.touching.get(c).map(([i, sign]) => [number.get(i), sign]);
      const key = touch.join(";");
      if (!known.has(key)) { known.set(key, groups.length); groups.push({ touch, cells: [] }); }
      groups[known.get(key)].cells.push(c);
      groupOf.set(c, known.get(key));
    }
    const part = { groups, groupOf, cycles: cycles.size };
    this.plan(part);
    for (const c of met) this.parts.set(c, part);
    return part;
  }

  /** Variable i * passes + p is cycle i in pass p. */
  plan(part) {
    const passes = this.model.passes, steps = [];
    const through = Array.from({ length: part.cycles }, () => []);
    for (const group of part.groups) for (const [i, sign] of group.touch) through[i].push([group, sign]);
    for (let i = 0; i < part.cycles; i++) {
      for (let p = 0; p < passes; p++) {
        const scope = new Set([i * passes + p]);
        const watched = through[i].map(([group, sign]) => {
          const later = [];
          for (const [j, s] of group.touch) {
            for (let q = j > i ? p : p + 1; q < passes; q++) later.push([j * passes + q, s]);
          }
          for (const [v] of later) scope.add(v);
          return { group, sign, later };
        });
        steps.push({ variable: i * passes + p, scope: [...scope], watched });
      }
    }
    const order = eliminationOrder(steps.map((step) => step.scope));
    const position = new Map(order.map(([v], k) => [v, k]));
    const ordered = (some) => [...some].sort((a, b) => position.get(a) - position.get(b));
    part.buckets = order.map(([v, joined]) => ({
      axes: [v, ...ordered(joined)], steps: [], groups: [], children: [],
    }));
    part.buckets.forEach((one, k) => {
      if (one.axes.length > 1) part.buckets[position.get(one.axes[1])].children.push(k);
    });
    for (const step of steps) {
      step.scope = ordered(step.scope);
      part.buckets[position.get(step.scope[0])].steps.push(step);
    }
    part.groups.forEach((group, g) => {
      const sign = new Map();
      for (const [i, s] of group.touch) for (let p = 0; p < passes; p++) sign.set(i * passes + p, s);
      group.scope = ordered(sign.keys());
      // What was added is taken away again: original - published.
      group.signs = group.scope.map((v) => -sign.get(v));
      part.buckets[position.get(group.scope[0])].groups.push(g);
    });
  }

  /** The change of a group at every place of a table over its variables. */
  static changes(group) {
    let out = [0];
    for (const sign of group.signs) out = out.flatMap((change) => [change - sign, change, change + sign]);
    return out;
  }

  /** Log factor of a step over its scope. */
  factor(step, lowest, worth) {
    const size = 3 ** step.scope.length, out = new Float64Array(size);
    const own = 3 ** (step.scope.length - 1 - step.scope.indexOf(step.variable));
    // Groups that the same later steps shift alike are looked at together.
    const shifts = step.watched.map(({ group, sign, later }) => ({
      group, sign,
      by: later.map(([v, s]) => [3 ** (step.scope.length - 1 - step.scope.indexOf(v)), s]),
    }));
    for (let place = 0; place < size; place++) {
      if (Math.floor(place / own) % 3) continue;
      let plus = worth ? 0 : FAR, minus = worth ? 0 : FAR;
      for (const { group, sign, by } of shifts) {
        let change = 0;
        for (const [stride, s] of by) change -= s * ((Math.floor(place / stride) % 3) - 1);
        if (worth) {
          const here = worth(group, change);
          plus += worth(group, change + sign) - here;
          minus += worth(group, change - sign) - here;
        } else if (sign > 0) plus = Math.min(plus, lowest.get(group) + change);
        else minus = Math.min(minus, lowest.get(group) + change);
      }
      const masses = worth ? ratioMasses(this.model, plus, minus) : coinMasses(this.model, plus, minus);
      for (let k = 0; k < 3; k++) out[place + k * own] = Math.log(masses[k]);
    }
    return out;
  }

  worthOf() {
    const known = new Map(), theta = this.model.theta;
    return (group, change) => {
      if (!known.has(group)) known.set(group, new Map());
      const mine = known.get(group);
      if (!mine.has(change)) {
        let log = 0;
        for (const cell of group.cells) {
          const count = this.counts[cell] + change;
          log = count < 0 ? -Infinity : log - theta * logFactorial(count);
        }
        mine.set(change, Number.isFinite(log) ? log : 10 * IMPOSSIBLE);
      }
      return mine.get(change);
    };
  }

  /** The table of every bucket, what it sends to the next one, and the peaks taken off. */
  eliminated(part, prior) {
    const lowest = new Map(part.groups.map((g) => [g, Math.min(...g.cells.map((c) => this.counts[c]))]));
    const worth = this.model.rule === "reversible" ? this.worthOf() : null;
    const tables = [], messages = [], peaks = [];
    part.buckets.forEach(({ axes, steps, groups, children }) => {
      const table = new Float64Array(3 ** axes.length);
      const add = (values, scope) => {
        const [at] = placesIn(axes, [scope]);
        for (let i = 0; i < table.length; i++) table[i] += values[at[i]];
      };
      for (const step of steps) add(this.factor(step, lowest, worth), step.scope);
      for (const g of groups) {
        const group = part.groups[g], known = new Map();
        const weights = MovesReader.changes(group).map((change) => {
          if (!known.has(change)) {
            known.set(change, group.cells.reduce((log, cell) => log
              + logWeight(prior, cell, this.counts[cell] + change, this.structural), 0));
          }
          return known.get(change);
        });
        add(weights, group.scope);
      }
      for (const child of children) add(messages[child], part.buckets[child].axes.slice(1));
      const message = withoutFirst(table);
      const peak = message.reduce((a, b) => Math.max(a, b), -Infinity);
      if (peak === -Infinity) throw new Impossible("no original fits");
      tables.push(table);
      messages.push(message.map((log) => log - peak));
      peaks.push(peak);
    });
    return { tables, messages, peaks };
  }

  /** The changes of every group with their chances. */
  solve(part, prior) {
    const { tables, messages, peaks } = this.eliminated(part, prior);
    const laws = [], rest = new Map();
    for (let k = part.buckets.length - 1; k >= 0; k--) {
      const { axes, groups, children } = part.buckets[k], table = tables[k];
      const below = rest.get(k), size = table.length / 3;
      const weights = table.map((log, i) => Math.exp(log + (below ? below[i % size] : -peaks[k])));
      for (const g of groups) {
        const group = part.groups[g], joint = summed(weights, axes, group.scope);
        const total = joint.reduce((a, b) => a + b, 0), law = new Map();
        MovesReader.changes(group).forEach((change, i) => {
          law.set(change, (law.get(change) || 0) + joint[i] / total);
        });
        laws[g] = law;
      }
      for (const child of children) {
        const sums = summed(weights, axes, part.buckets[child].axes.slice(1));
        const sent = messages[child];
        rest.set(child, sums.map((sum, i) => (sent[i] === -Infinity ? -Infinity
          : Math.log(sum) - sent[i] - peaks[child])));
      }
    }
    return laws;
  }
  /** The laws of the parts of a sum of cells, each with its weight. */
  summands(weights, prior) {
    this.allows(prior);
    const together = new Map();
    let fixed = 0;
    for (const [cell, weight] of weights) {
      fixed += weight * this.counts[cell];
      if (!this.touching.has(cell)) continue;
      const part = this.part(cell), group = part.groupOf.get(cell);
      if (!together.has(part)) together.set(part, new Map());
      together.get(part).set(group, (together.get(part).get(group) || 0) + weight);
    }
    return [{ law: new Map([[fixed, 1]]), draws: 0 }, ...[...together].map(([part, mine]) => this.summand(part, mine, prior))];
  }

  /** What the groups of one part change: each variable adds its own, given those that come later. */
  summand(part, weights, prior) {
    const by = new Map();
    for (const [g, weight] of weights) {
      const { scope, signs } = part.groups[g];
      scope.forEach((v, k) => by.set(v, (by.get(v) || 0) + weight * signs[k]));
    }
    if (![...by.values()].some((one) => one)) return { law: new Map([[0, 1]]), draws: 0 };
    const { tables, messages, peaks } = this.eliminated(part, prior);
    const given = tables.map((table, k) => {
      const size = table.length / 3;
      return Float64Array.from(table, (log, i) => {
        const sent = messages[k][i % size];
        return sent === -Infinity ? 0 : Math.exp(log - sent - peaks[k]);
      });
    });
    const sums = [], roots = [];
    let work = 0;
    for (let k = 0; k < part.buckets.length && work <= MOST_SUMS; k++) {
      const { axes, children } = part.buckets[k], size = tables[k].length / 3, own = by.get(axes[0]) || 0;
      const at = placesIn(axes, children.map((child) => part.buckets[child].axes.slice(1)));
      sums[k] = Array.from({ length: size }, () => new Map());
      for (let i = 0; i < tables[k].length && work <= MOST_SUMS; i++) {
        if (!given[k][i]) continue;
        let held = new Map([[own * (Math.floor(i / size) - 1), given[k][i]]]);
        children.forEach((child, n) => {
          const other = sums[child][at[n][i]];
          work += held.size * other.size;
          if (work <= MOST_SUMS) held = added(held, other);
        });
        work += held.size;
        for (const [sum, p] of held) sums[k][i % size].set(sum, (sums[k][i % size].get(sum) || 0) + p);
      }
      for (const child of children) sums[child] = null;
      if (axes.length === 1) roots.push(k);
    }
    if (work <= MOST_SUMS) return { law: roots.reduce((law, k) => added(law, sums[k][0]), new Map([[0, 1]])), draws: 0 };
    return drawn((random) => {
      const value = new Map();
      let sum = 0;
      for (let k = part.buckets.length - 1; k >= 0; k--) {
        const { axes } = part.buckets[k], size = tables[k].length / 3;
        const rest = axes.slice(1).reduce((place, v) => 3 * place + value.get(v), 0);
        const x = picked([0, 1, 2], (one) => given[k][one * size + rest], random);
        value.set(axes[0], x);
        sum += (by.get(axes[0]) || 0) * (x - 1);
      }
      return sum;
    });
  }
}
