// Which number to use: the law of a sum of true counts, its best value and its interval.

const MOST_SUMS = 4e6, DRAWS = 4000, APART = 2 ** 26;

/** The law of what two independent laws add up to. */
function added(one, two) {
  if (one.size === 1 && two.size > 1) return added(two, one);
  const out = new Map();
  for (const [b, q] of two) for (const [a, p] of one) out.set(a + b, (out.get(a + b) || 0) + p * q);
  return out;
}

/** Chance that is the same for whoever opens the page. */
function seeded() {
  let state = 1;
  return () => {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** One of some, by their chances. */
function picked(some, chance, random) {
  let left = random() * some.reduce((sum, one) => sum + chance(one), 0);
  for (const one of some) {
    left -= chance(one);
    if (left < 0) return one;
  }
  return some[some.length - 1];
}

/** A law from draws. */
function drawn(draw) {
  const law = new Map(), random = seeded();
  for (let n = 0; n < DRAWS; n++) {
    const sum = draw(random);
    law.set(sum, (law.get(sum) || 0) + 1 / DRAWS);
  }
  return { law, draws: DRAWS };
}

/** The shortest interval with this chance at least; of equally short ones the likeliest. */
function shortest(law, level) {
  const below = [0];
  law.forEach(([, p], n) => below.push(below[n] + p));
  const tidy = (x) => Math.round(x * 1e12) / 1e12;
  let best = null, end = 0;
  for (let first = 0; first < law.length; first++) {
    while (end <= law.length && below[end] < below[first] + level - 1e-9) end++;
    if (end > law.length) break;
    const found = [tidy(law[end - 1][0] - law[first][0]), -tidy(below[end] - below[first]), first, end - 1];
    if (!best || found[0] < best[0] || (found[0] === best[0] && found[1] < best[1])) best = found;
  }
  return [law[best[2]][0], law[best[3]][0]];
}

class MayBeNone extends Error {}

/** The best value and the interval of a sum, a difference, a share or a rate of flat cells. */
function bestNumber(reader, kind, cells, others, level, prior) {
  const named = kind !== "rate" ? kind : cells.every((cell) => others.includes(cell)) ? "share" : "rate";
  const weights = new Map(cells.map((cell) => [cell, 1]));
  const beside = kind === "difference" ? -1 : APART;
  for (const cell of others) weights.set(cell, (weights.get(cell) || 0) + beside);
  const { law, draws } = reader.sum(weights, prior);
  const found = new Map();
  let all = 0;
  for (const [sum, p] of law) {
    let value = sum;
    if (kind === "rate") {
      const two = Math.floor(sum / APART);
      if (!two) throw new MayBeNone();
      value = Math.round(((sum - APART * two) / two) * 1e12) / 1e12;
    }
    found.set(value, (found.get(value) || 0) + p);
    all += p;
  }
  const told = [...found].filter(([, p]) => p > 0).map(([n, p]) => [n, p / all]).sort((a, b) => a[0] - b[0]);
  const estimate = told.reduce((sum, [n, p]) => sum + n * p, 0);
  const variance = told.reduce((sum, [n, p]) => sum + (n - estimate) ** 2 * p, 0);
  const [low, high] = shortest(told, level);
  return { kind: named, estimate, low, high, level, variance, draws, error: draws ? Math.sqrt(variance / draws) : 0 };
}
