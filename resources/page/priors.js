// Priors: log weights of a count in a cell, up to a constant; -Infinity is impossible.
// A prior is {kind, mean, cell, weights}; with a cell it holds there, and elsewhere every count
// is as likely as any other.

const FIRST_LOGS = [0];
for (let n = 1; n < 64; n++) FIRST_LOGS.push(FIRST_LOGS[n - 1] + Math.log(n));

/** log n!, by Stirling's series beyond the first. */
function logFactorial(n) {
  if (n < FIRST_LOGS.length) return FIRST_LOGS[n];
  const x = n + 1, y = 1 / (x * x);
  return (x - 0.5) * Math.log(x) - x + 0.91893853320467274178
    + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
}

/** The prior of a text: "uniform", "positive", "poisson:4"; a prior is returned as it is. */
function parsePrior(text) {
  if (typeof text !== "string") return text || { kind: "uniform" };
  if (text === "uniform" || text === "positive") return { kind: text };
  const [kind, mean] = text.split(":");
  const number = mean === undefined || mean.trim() === "" ? NaN : Number(mean);
  if (kind !== "poisson" || !(number >= 0) || !Number.isFinite(number)) {
    throw new RangeError("unknown prior: " + text);
  }
  return { kind: "poisson", mean: number };
}

/** Log weight of a count in a flat cell. */
function logWeight(prior, cell, count, structural) {
  if (count < 0) return -Infinity;
  if (structural && structural.has(cell)) return count === 0 ? 0 : -Infinity;
  if (prior.cell !== undefined && prior.cell !== cell) return 0;
  if (prior.kind === "positive") return count > 0 ? 0 : -Infinity;
  if (prior.kind === "poisson") {
    if (prior.mean === 0) return count === 0 ? 0 : -Infinity;
    return count * Math.log(prior.mean) - prior.mean - logFactorial(count);
  }
  if (prior.kind === "own") return Math.log(prior.weights[count] || 0);
  return 0;
}

/** The lowest and highest count that a prior allows in a flat cell. */
function priorSupport(prior, cell, structural) {
  if (structural && structural.has(cell)) return [0, 0];
  if (prior.cell !== undefined && prior.cell !== cell) return [0, Infinity];
  if (prior.kind === "positive") return [1, Infinity];
  if (prior.kind === "poisson" && prior.mean === 0) return [0, 0];
  if (prior.kind === "own") {
    const known = Object.keys(prior.weights).map(Number).filter((n) => prior.weights[n] > 0);
    return known.length ? [Math.min(...known), Math.max(...known)] : [1, 0];
  }
  return [0, Infinity];
}

class Impossible extends Error {}

/** What is assumed makes the table so unlikely that rounding might be all there is. */
class Contradicted extends Error {}
