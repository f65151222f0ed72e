// Asks the scripts of pages in node: one line of JSON in (the path of a page, cells, priors), one out.
const fs = require("fs");
const vm = require("vm");
const readline = require("readline");

function readerOf(path) {
  const text = fs.readFileSync(path, "utf-8");
  const held = (id) => text.split(`<script type="application/json" id="${id}">`)[1].split("</script>")[0];
  const script = text.split("<script>")[1].split("</script>")[0];
  const context = vm.createContext({ JSON, Math, console });
  vm.runInContext(`${script}\nthis.make = (release, model) => new Reader(release, model);`, context);
  return context.make(JSON.parse(held("release")), JSON.parse(held("model")));
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line), begun = process.hrtime.bigint();
  let answer;
  try {
    const reader = readerOf(asked.page);
    const laws = {};
    for (const prior of asked.priors) {
      const given = prior.startsWith("{") ? JSON.parse(prior) : prior;
      laws[prior] = asked.cells.map((cell) => {
        try { return reader.distribution(cell, given); } catch (error) { return { error: error.message }; }
      });
    }
    const numbers = (asked.questions || []).map(([kind, cells, others]) => reader.number(kind, cells, others));
    answer = { exact: reader.exact, laws, numbers };
  } catch (error) { answer = { error: String(error.stack) }; }
  answer.seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  console.log(JSON.stringify(answer));
});
