// The exact posterior where each published count is a function of one sum of true counts.
//
// Cells that no sum joins are independent. Joined ones are taken one by one: all that matters of the
// earlier ones is how much each sum that is still open holds. One pass forward over these states and
// one back give every cell's distribution.

const MOST_COUNTS = 2 ** 20, FALLEN = 45, MOST_STEPS = 4e6, MOST_ROUNDS = 200;

class FactorsReader {
  /** model: {starts, cells, kind, low, high, run, runs, order}; without starts one factor a cell. */
  constructor(model, size, structural) {
    Object.assign(this, { model, size, structural, known: new Map() });
    this.single = new Map();
    this.sums = [];
    model.kind.forEach((kind, f) => {
      const cells = model.starts ? model.cells.slice(model.starts[f], model.starts[f + 1]) : [f];
      if (cells.length > 1) this.sums.push({ cells, kind });
      else if (cells.length) {
        if (!this.single.has(cells[0])) this.single.set(cells[0], []);
        this.single.get(cells[0]).push(kind);
      }
    });
    this.rank = new Map((model.order || []).map((cell, n) => [cell, n]));
  }

  high(kind) {
    const high = this.model.high[kind];
    return high === null ? Infinity : high;
  }

  /** Log weight of a sum under a kind of factor. */
  kindLog(kind, value) {
    const low = this.model.low[kind], run = this.model.run[kind];
    if (value < low || value > this.high(kind)) return -Infinity;
    if (run < 0) return 0;
    const log = this.model.runs[run][value - low];
    return log === null ? -Infinity : log;
  }

  cellLog(cell, prior, value) {
    let log = logWeight(prior, cell, value, this.structural);
    for (const kind of this.single.get(cell) || []) log += this.kindLog(kind, value);
    return log;
  }

  /** The possible counts of each cell by itself. */
  support(cell, prior) {
    let [low, high] = priorSupport(prior, cell, this.structural);
    for (const kind of this.single.get(cell) || []) {
      low = Math.max(low, this.model.low[kind]);
      high = Math.min(high, this.high(kind));
    }
    if (low > high) throw new Impossible("no count fits");
    return [low, high];
  }

  distribution(cell, prior) {
    const key = JSON.stringify(prior);
    if (!this.known.has(key)) this.known.set(key, { cells: new Map(), parts: this.split(prior) });
    const { cells, parts } = this.known.get(key);
    if (!cells.has(cell)) {
      const part = parts.of.get(cell);
      if (part) for (const [member, law] of this.solve(part, prior, parts)) cells.set(member, law);
      else cells.set(cell, this.alone(cell, prior, parts.ends.get(cell)));
    }
    return cells.get(cell);
  }

  /** The last count that matters where only the weights limit it. */
  settled(cell, prior, low) {
    for (let width = 64; width <= MOST_COUNTS; width *= 4) {
      const logs = Array.from({ length: width }, (_, k) => this.cellLog(cell, prior, low + k));
      const peak = logs.reduce((a, b) => Math.max(a, b)), last = logs[width - 1];
      const flat = last > -Infinity && last >= logs[width / 2];
      if (peak > -Infinity && !flat && last < peak - FALLEN) {
        let end = width - 1;
        while (logs[end] <= peak - FALLEN) end--;
        let begin = 0;
        while (logs[begin] <= peak - FALLEN) begin++;
        return [low + begin, low + end];
      }
      if (flat && logs[width / 2] === last && last === peak) break;
    }
    throw new Impossible("nothing limits this count");
  }

  alone(cell, prior, ends) {
    let [low, high] = ends || this.support(cell, prior);
    if (high === Infinity) [low, high] = this.settled(cell, prior, low);
    if (high - low >= MOST_COUNTS) throw new Impossible("too many counts");
    const logs = [];
    for (let v = low; v <= high; v++) logs.push(this.cellLog(cell, prior, v));
    return lawOf(low, logs);
  }

  /** Bounds narrowed by all sums, and the cells that hang together. */
  split(prior) {
    const ends = new Map(), of = new Map();
    if (!this.sums.length) return { ends, of };
    for (const { cells } of this.sums) {
      for (const cell of cells) if (!ends.has(cell)) ends.set(cell, this.support(cell, prior));
    }
    for (let round = 0, changed = true; changed && round < MOST_ROUNDS; round++) {
      changed = false;
      for (const { cells, kind } of this.sums) {
        let least = 0, most = 0, endless = 0;
        for (const cell of cells) {
          const [low, high] = ends.get(cell);
          least += low;
          if (high === Infinity) endless++; else most += high;
        }
        for (const cell of cells) {
          const [low, high] = ends.get(cell), last = high === Infinity;
          const top = Math.min(high, this.high(kind) - (least - low));
          const bottom = endless - (last ? 1 : 0) > 0 ? low
            : Math.max(low, this.model.low[kind] - (most - (last ? 0 : high)));
          if (bottom > top) throw new Impossible("no count fits");
          if (bottom !== low || top !== high) { ends.set(cell, [bottom, top]); changed = true; }
        }
      }
    }
    return { ends, of: this.parts(ends, prior) };
  }

  /** The part of each cell that a sum joins with others. */
  parts(ends, prior) {
    const live = this.sums.filter(({ cells, kind }) => {
      const open = cells.filter((cell) => ends.get(cell)[0] < ends.get(cell)[1]);
      if (!open.length) return false;
      const least = cells.reduce((sum, cell) => sum + ends.get(cell)[0], 0);
      const most = cells.reduce((sum, cell) => sum + ends.get(cell)[1], 0);
      return this.model.run[kind] >= 0 || this.model.low[kind] > least || this.high(kind) < most;
    });
    const through = new Map();
    for (const one of live) {
      for (const cell of one.cells) {
        if (ends.get(cell)[0] === ends.get(cell)[1]) continue;
        if (!through.has(cell)) through.set(cell, []);
        through.get(cell).push(one);
      }
    }
    const of = new Map();
    for (const start of through.keys()) {
      if (of.has(start)) continue;
      const part = { cells: [], sums: new Set() }, open = [start];
      of.set(start, part);
      while (open.length) {
        const cell = open.pop();
        part.cells.push(cell);
        if (ends.get(cell)[1] === Infinity) {
          ends.set(cell, [ends.get(cell)[0], this.settled(cell, prior, ends.get(cell)[0])[1]]);
        }
        for (const one of through.get(cell)) {
          part.sums.add(one);
          for (const other of one.cells) {
            if (through.has(other) && !of.has(other)) { of.set(other, part); open.push(other); }
          }
        }
      }
      part.cells.sort((a, b) => (this.rank.get(a) ?? a) - (this.rank.get(b) ?? b));
    }
    return of;
  }

  /** The cells of a part one by one: states, and the steps between them. */
  layers(part, prior, { ends }) {
    const place = new Map(part.cells.map((cell, n) => [cell, n]));
    const sums = [...part.sums].map(({ cells, kind }) => {
      const mine = cells.filter((cell) => place.has(cell));
      const base = cells.reduce((sum, c) => sum + (place.has(c) ? 0 : ends.get(c)[0]), 0);
      const at = mine.map((cell) => place.get(cell));
      return {
        kind, base, cells: new Set(mine), first: Math.min(...at), last: Math.max(...at),
        low: this.model.low[kind] - base, high: this.high(kind) - base,
        leftLow: mine.reduce((sum, c) => sum + ends.get(c)[0], 0),
        leftHigh: mine.reduce((sum, c) => sum + ends.get(c)[1], 0),
      };
    });
    let states = [[]], open = [], steps = 0;
    const layers = [];
    part.cells.forEach((cell, n) => {
      const [low, high] = ends.get(cell);
      const own = sums.filter((one) => one.cells.has(cell));
      for (const one of own) { one.leftLow -= low; one.leftHigh -= high; }
      const before = open;
      const now = [...before, ...own.filter((one) => one.first === n)];
      const after = now.filter((one) => one.last > n);
      const logs = [];
      for (let v = low; v <= high; v++) logs.push(this.cellLog(cell, prior, v));
      const found = new Map(), next = [];
      const layer = { source: [], target: [], count: [], log: [], states: states.length };
      states.forEach((held, s) => {
        for (let v = low; v <= high; v++) {
          let log = logs[v - low], fits = log > -Infinity;
          const state = [];
          for (let k = 0; fits && k < now.length; k++) {
            const one = now[k];
            const holds = (k < before.length ? held[k] : 0) + (one.cells.has(cell) ? v : 0);
            if (holds + one.leftLow > one.high || holds + one.leftHigh < one.low) fits = false;
            else if (one.last > n) state.push(holds);
            else log += this.kindLog(one.kind, holds + one.base);
          }
          if (!fits || log === -Infinity) continue;
          const key = state.join();
          let target = found.get(key);
          if (target === undefined) { target = next.length; found.set(key, target); next.push(state); }
          layer.source.push(s); layer.target.push(target); layer.count.push(v); layer.log.push(log);
          if (++steps > MOST_STEPS) throw new Impossible("too many originals");
        }
      });
      layers.push(layer);
      states = next;
      open = after;
    });
    const back = [new Float64Array(1)];
    for (let n = layers.length - 1; n >= 0; n--) {
      const { source, target, log, states } = layers[n], later = back[0];
      back.unshift(logSums(source, log.map((one, k) => one + later[target[k]]), states));
    }
    if (!(back[0][0] > -Infinity)) throw new Impossible("no original fits");
    return { layers, back };
  }

  solve(part, prior, { ends }) {
    const { layers, back } = this.layers(part, prior, { ends }), all = back[0][0];
    const out = new Map();
    let ahead = new Float64Array(1);
    layers.forEach(({ source, target, count, log }, n) => {
      const [low, high] = ends.get(part.cells[n]);
      const mass = new Array(high - low + 1).fill(0);
      const joint = log.map((one, k) => one + ahead[source[k]]);
      joint.forEach((one, k) => { mass[count[k] - low] += Math.exp(one + back[n + 1][target[k]] - all); });
      const total = mass.reduce((a, b) => a + b, 0), law = {};
      mass.forEach((one, k) => { if (one > 0) law[low + k] = one / total; });
      out.set(part.cells[n], law);
      ahead = logSums(target, joint, back[n + 1].length);
    });
    return out;
  }

  /** The laws of the parts of a sum of cells, each with its weight. */
  summands(weights, prior) {
    const together = new Map(), out = [];
    for (const [cell, weight] of weights) {
      const law = Object.entries(this.distribution(cell, prior)), { parts } = this.known.get(JSON.stringify(prior));
      const part = parts.of.get(cell);
      if (!part) out.push({ law: new Map(law.map(([n, p]) => [weight * n, p])), draws: 0 });
      else if (together.has(part)) together.get(part).set(cell, weight);
      else together.set(part, new Map([[cell, weight]]));
    }
    const { parts } = this.known.get(JSON.stringify(prior)) || {};
    for (const [part, mine] of together) out.push(this.summand(part, mine, prior, parts));
    return out;
  }

  /** What the cells of one part add: their sums are carried from state to state. */
  summand(part, weights, prior, parts) {
    const { layers, back } = this.layers(part, prior, parts);
    const by = part.cells.map((cell) => weights.get(cell) || 0);
    const steps = layers.map(({ source, target, log, states }, n) => {
      const chances = log.map((one, k) => Math.exp(one + back[n + 1][target[k]] - back[n][source[k]]));
      const from = Array.from({ length: states }, () => []);
      source.forEach((s, k) => from[s].push(k));
      return { chances, from };
    });
    let held = [new Map([[0, 1]])], work = 0;
    for (let n = 0; n < layers.length && work <= MOST_SUMS; n++) {
      const { source, target, count } = layers[n], next = Array.from(back[n + 1], () => new Map());
      source.forEach((s, k) => {
        const chance = steps[n].chances[k], into = next[target[k]], added = by[n] * count[k];
        for (const [sum, p] of work <= MOST_SUMS ? held[s] : []) into.set(sum + added, (into.get(sum + added) || 0) + p * chance);
        work += held[s].size;
      });
      held = next;
    }
    if (work <= MOST_SUMS) return { law: held[0], draws: 0 };
    return drawn((random) => layers.reduce(([s, sum], { target, count }, n) => {
      const k = picked(steps[n].from[s], (one) => steps[n].chances[one], random);
      return [target[k], sum + by[n] * count[k]];
    }, [0, 0])[1]);
  }
}

/** log-sum-exp of the entries of each number. */
function logSums(number, logs, size) {
  const peak = new Float64Array(size).fill(-Infinity), sums = new Float64Array(size);
  logs.forEach((log, k) => { peak[number[k]] = Math.max(peak[number[k]], log); });
  logs.forEach((log, k) => { if (log > -Infinity) sums[number[k]] += Math.exp(log - peak[number[k]]); });
  return sums.map((sum, k) => (sum > 0 ? peak[k] + Math.log(sum) : -Infinity));
}

/** Chances from log weights of consecutive counts. */
function lawOf(low, logs) {
  const peak = logs.reduce((a, b) => Math.max(a, b), -Infinity), law = {};
  if (peak === -Infinity) throw new Impossible("no count fits");
  const weights = logs.map((log) => Math.exp(log - peak)), total = weights.reduce((a, b) => a + b, 0);
  weights.forEach((weight, k) => { if (weight > 0) law[low + k] = weight / total; });
  return law;
}
