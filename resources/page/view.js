// What is seen: the tables, and the distribution of the count that was chosen.

const CELLS_AT_ONCE = 4000, MOST_BARS = 32, SVG = "http://www.w3.org/2000/svg";

class View {
  constructor(release, reader, model) {
    Object.assign(this, { release, reader, model });
    this.language = (navigator.language || "en").slice(0, 2) === "de" ? "de" : "en";
    this.prior = { kind: "uniform" };
    this.chosen = null;
    this.marking = false;
    this.marks = [new Set(), new Set()];
    this.asked = { kind: "sum", into: 0 };
    this.open(0);
  }

  words(name, values = {}) {
    return WORDS[this.language][NAMES.indexOf(name)].replace(/\{(\w+)\}/g, (all, key) => (key in values ? values[key] : all));
  }

  number(count) {
    const [whole, part] = String(count).split(".");
    const grouped = whole.replace(/^-/, "\u2212").replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return part ? grouped + (this.language === "de" ? "," : ".") + part : grouped;
  }

  /** A chance in whole numbers of 100. */
  in100(chance) {
    if (chance < 0.01) return this.words("less");
    return chance > 0.99 && chance < 1 ? this.words("more_than") : String(Math.round(100 * chance));
  }

  make(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made && name !== "list") made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  /** Show a table: its last variable with few categories across, the longest of the others down. */
  open(number) {
    this.number_of_table = number;
    this.shown = this.release.tables[number];
    this.hidden = new Set(this.shown.hidden);
    this.beside = Object.entries(this.shown.beside || {});
    const sizes = this.shown.variables.map((one) => one.categories.length);
    const axes = sizes.map((_, axis) => axis);
    const few = axes.filter((axis) => sizes[axis] <= 40);
    this.across = axes.length < 2 ? -1 : few.length ? few[few.length - 1] : axes[axes.length - 1];
    const rest = axes.filter((axis) => axis !== this.across);
    this.down = rest.length ? rest.reduce((a, b) => (sizes[b] > sizes[a] ? b : a)) : -1;
    this.sums = this.release.sums;
    this.slice = sizes.map((size) => (this.sums ? size - 1 : 0));
    this.sizes = sizes;
    this.filter = "";
  }

  flat(index) {
    return index.reduce((flat, i, axis) => flat * this.sizes[axis] + i, 0);
  }

  /** The published number at an index, where -1 stands for all; null where it is hidden or unknown. */
  count(index) {
    if (!index.includes(-1)) {
      const flat = this.flat(index);
      return this.hidden.has(flat) ? null : this.shown.counts[flat];
    }
    const kept = index.map((_, axis) => axis).filter((axis) => index[axis] >= 0);
    const names = kept.map((axis) => this.shown.variables[axis].name).join("\n");
    const margin = this.release.tables.find((one) => one !== this.shown
      && one.variables.map((variable) => variable.name).join("\n") === names);
    if (margin) {
      const flat = kept.reduce((at, axis) => at * this.sizes[axis] + index[axis], 0);
      return margin.hidden.includes(flat) ? null : margin.counts[flat];
    }
    const axis = index.indexOf(-1);
    let total = 0;
    for (let i = 0; i < this.sizes[axis]; i++) {
      const one = this.count(index.map((at, k) => (k === axis ? i : at)));
      if (one === null) return null;
      total += one;
    }
    return total;
  }

  category(axis, i) {
    return i < 0 ? this.words("total") : this.shown.variables[axis].categories[i];
  }

  draw() {
    document.documentElement.lang = this.language;
    const { release } = this;
    const title = release.title || this.words("untitled");
    document.title = title;
    const main = document.getElementById("main");
    const holds = this.model.way !== "none" && release.tables[0].counts;
    main.replaceChildren(
      this.make("header", {},
        this.make("div", {}, this.make("h1", {}, title), this.make("p", { className: "lead" },
          this.words("lead"), " ",
          holds ? this.make("strong", {}, this.words(this.sums ? "choose_sum" : "choose")) : null)),
        this.languages()),
      release.tables[0].counts
        ? this.make("div", { className: "columns" }, this.tables(), this.panel())
        : this.make("p", { className: "note" }, this.words("too_large")),
      this.about());
    if (release.tables[0].counts) this.fill();
    this.tell();
  }

  languages() {
    const box = this.make("div", { className: "languages", role: "group", ariaLabel: this.words("language") });
    for (const [code, name] of [["en", "English"], ["de", "Deutsch"]]) {
      const button = this.make("button", { type: "button", className: "plain", lang: code, ariaPressed: String(code === this.language) }, name);
      button.addEventListener("click", () => {
        this.language = code;
        this.draw();
        document.querySelector(`.languages [lang=${code}]`).focus();
      });
      box.append(button);
    }
    return box;
  }

  labelled(words, control, className = "") {
    return this.make("label", { className }, this.make("span", {}, words), control);
  }

  choice(words, names, at, then) {
    const select = this.make("select", {}, ...names.map((name, i) => this.make("option", { value: String(i) }, name)));
    select.value = String(at);
    select.addEventListener("change", () => { then(Number(select.value)); });
    return this.labelled(words, select);
  }

  tables() {
    const bar = this.make("div", { className: "bar" });
    if (this.release.tables.length > 1) {
      const names = this.release.tables.map((one) => one.variables.map((v) => v.name).join(" \u00d7 ") || this.words("total"));
      bar.append(this.choice(this.words("table"), names, this.number_of_table, (n) => { this.open(n); this.chosen = null; this.draw(); }));
    }
    this.shown.variables.forEach((variable, axis) => {
      if (axis === this.across || axis === this.down) return;
      const first = this.sums ? 0 : 1, names = first ? [this.words("total"), ...variable.categories] : variable.categories;
      bar.append(this.choice(variable.name, names, this.slice[axis] + first, (n) => { this.slice[axis] = n - first; this.fill(); }));
    });
    if (this.down >= 0 && this.sizes[this.down] > 20) {
      const box = this.make("input", { type: "search", value: this.filter });
      box.addEventListener("input", () => { this.filter = box.value; this.fill(); });
      bar.append(this.labelled(this.words("find"), box));
    }
    if (!this.sums && this.model.way !== "none") {
      const which = this.make("button", { type: "button", className: "which", ariaPressed: String(this.marking) }, this.words("which"));
      which.addEventListener("click", () => {
        this.marking = !this.marking;
        which.ariaPressed = String(this.marking);
        this.chosen = null;
        for (const one of this.table.querySelectorAll("[aria-selected]")) one.removeAttribute("aria-selected");
        this.showMarks();
        this.drawPanel();
        this.tell();
      });
      bar.append(which);
    }
    const copy = this.make("button", { type: "button", className: "plain" }, this.words("copy"));
    copy.addEventListener("click", () => this.copy(this.csv()));
    bar.append(copy, this.make("span", { id: "copied", role: "status" }));
    this.table = this.make("table", { role: "grid", tabIndex: -1 });
    this.table.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell) this.choose(cell);
    });
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.more = this.make("button", { type: "button", className: "plain" });
    this.more.addEventListener("click", () => this.append());
    const notes = [this.shown.hidden.length ? this.words("hidden_note") : "", this.sums ? "" : this.words("totals"), this.words("keys"), this.release.said[this.language].weighted];
    const named = this.release.tables.length > 1 ? " named" : "";
    return this.make("section", { className: `published${named}`, ariaLabel: this.words("table") }, bar,
      this.make("div", { className: "wide" }, this.table), this.more,
      this.make("p", { className: "quiet" }, notes.filter(Boolean).join(" ")));
  }

  /** Fill the table anew from its first row. */
  fill() {
    const { variables } = this.shown;
    const columns = this.across < 0 ? [null] : [...variables[this.across].categories.keys(), ...(this.sums ? [] : [-1])];
    const wanted = this.filter.trim().toLowerCase();
    this.lines = this.down < 0 ? [null] : [...variables[this.down].categories.keys()]
      .filter((i) => !wanted || variables[this.down].categories[i].toLowerCase().includes(wanted));
    if (this.down >= 0 && !wanted && !this.sums) this.lines.push(-1);
    this.columns = columns;
    const corner = this.down < 0 ? "" : variables[this.down].name;
    const head = this.make("tr", {}, this.heading("col", corner),
      ...columns.map((j) => this.heading("col", j === null ? (this.sums ? this.sums.measure : this.words("count_of")) : this.category(this.across, j), "number")));
    const names = variables.map((one) => one.name).join(" \u00d7 ");
    this.table.replaceChildren(this.make("caption", {}, names), this.make("thead", {}, head), this.make("tbody", {}));
    this.appended = 0;
    this.append();
  }

  heading(scope, name, className = "") {
    return this.make("th", { scope, className }, this.make("span", {}, name));
  }

  at(i, j) {
    const index = [...this.slice];
    if (this.down >= 0) index[this.down] = i;
    if (this.across >= 0) index[this.across] = j;
    return index;
  }

  append() {
    const body = this.table.tBodies[0], focusable = !this.table.querySelector("td[tabindex='0']");
    const step = Math.max(10, Math.floor(CELLS_AT_ONCE / this.columns.length));
    const lines = this.lines.slice(this.appended, this.appended + step);
    lines.forEach((i, n) => {
      const row = this.make("tr", { className: i === -1 ? "total" : "" }, this.heading("row", i === null ? this.words("total") : this.category(this.down, i)));
      this.columns.forEach((j, m) => {
        const index = this.at(i, j), count = this.count(index), whole = !index.includes(-1);
        const hidden = whole && count === null;
        const cell = this.make("td", {
          className: hidden ? "hidden" : index.includes(-1) ? "sum" : "", tabIndex: focusable && n === 0 && m === 0 ? 0 : -1,
        }, hidden ? "x" : count === null ? "" : this.number(count));
        if (hidden) cell.ariaLabel = this.words("hidden");
        else for (const [name, texts] of this.beside) cell.append(this.make("small", {}, `${name} ${this.number(texts[this.flat(index)])}`));
        cell.index = index;
        if (this.chosen && this.chosen.join() === index.join()) cell.ariaSelected = "true";
        row.append(cell);
      });
      body.append(row);
    });
    this.appended += lines.length;
    this.showMarks();
    const left = this.lines.length - this.appended;
    this.more.hidden = left <= 0;
    this.more.textContent = this.words("more", { more: this.number(Math.min(step, left)), all: this.number(left) });
  }

  key(event) {
    const cell = event.target.closest("td");
    if (!cell) return;
    const row = cell.parentElement, rows = [...this.table.tBodies[0].rows];
    const r = rows.indexOf(row), c = cell.cellIndex;
    const moves = {
      ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
      Home: [r, 1], End: [r, row.cells.length - 1], PageUp: [Math.max(0, r - 15), c], PageDown: [Math.min(rows.length - 1, r + 15), c],
    };
    if (event.key === "Enter" || event.key === " ") this.choose(cell);
    else if (moves[event.key]) {
      const [i, j] = moves[event.key], next = rows[i] && rows[i].cells[j];
      if (next && next.tagName === "TD") this.focus(next);
    } else return;
    event.preventDefault();
  }

  focus(cell) {
    for (const one of this.table.querySelectorAll("td[tabindex='0']")) one.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  }

  choose(cell) {
    if (this.marking) {
      this.mark(cell);
      return;
    }
    for (const one of this.table.querySelectorAll("[aria-selected]")) one.removeAttribute("aria-selected");
    cell.ariaSelected = "true";
    this.focus(cell);
    this.chosen = cell.index;
    if (this.prior.kind === "own" || this.prior.cell !== undefined) this.prior = { kind: "uniform" };
    this.drawPanel();
    this.tell();
    if (matchMedia("(max-width: 760px)").matches) {
      const box = cell.getBoundingClientRect(), sheet = this.aside.getBoundingClientRect();
      if (box.bottom > sheet.top) window.scrollBy(0, box.bottom - sheet.top + 56);
    }
  }

  panel() {
    this.aside = this.make("aside", { ariaLabel: this.words("chances") });
    this.drawPanel();
    return this.aside;
  }

  drawPanel() {
    const found = this.answer = this.make("div", { className: "answer", ariaLive: "polite" });
    const close = this.make("button", { type: "button", className: "close", ariaLabel: this.words("close") }, "\u00d7");
    close.addEventListener("click", () => {
      if (this.marking) {
        document.querySelector(".which").click();
        document.querySelector(".which").focus();
        return;
      }
      this.chosen = null;
      const cell = this.table.querySelector("[aria-selected]");
      this.drawPanel();
      this.tell();
      if (cell) { cell.removeAttribute("aria-selected"); cell.focus(); }
    });
    this.aside.replaceChildren(close, found);
    if (this.marking) {
      close.after(this.make("h2", {}, this.words("which")));
      this.aside.append(this.asking());
      return;
    }
    if (this.reader.exact) this.aside.append(this.priors());
    const { model } = this, error = model.drawn ? this.words("drawn", { error: this.number(Math.ceil(1000 * model.error) / 1000) }) : "";
    const rests = ["listed", "strip", "exchange"].includes(model.way) ? this.words(model.way) : this.reader.exact ? this.words("exact") : model.way === "kept" ? this.words("kept") : this.sums && !model.why ? this.words("sums") : model.why[this.language];
    this.aside.append(this.make("p", { className: "quiet" }, [rests, error].filter(Boolean).join(" ")));
  }

  priors() {
    const box = this.make("fieldset", {}, this.make("legend", {}, this.words("assume")));
    const inner = this.inner();
    for (const kind of ["uniform", "positive", "poisson", "own"]) {
      const radio = this.make("input", { type: "radio", name: "prior", value: kind, checked: this.prior.kind === kind });
      const label = this.make("label", { className: "radio" }, radio, this.make("span", {}, this.make("b", {}, this.words(kind)), this.make("small", {}, this.words(`${kind}_help`))));
      if (kind === "own" && !inner) radio.disabled = true;
      radio.addEventListener("change", () => {
        this.prior = { kind };
        if (kind === "poisson") this.prior.mean = Math.max(1, (inner && this.count(this.chosen)) || 1);
        if (kind === "own") Object.assign(this.prior, { weights: { 0: 1, 1: 1, 2: 1, 3: 1 }, cell: this.reader.flat(this.chosen) });
        this.drawPanel();
        this.tell();
        this.aside.querySelector(`input[value=${kind}]`).focus();
      });
      box.append(label);
    }
    if (this.prior.kind === "poisson") {
      const number = this.make("input", { type: "number", min: "0", step: "any", value: String(this.prior.mean) });
      number.addEventListener("input", () => {
        if (number.value !== "" && Number(number.value) >= 0) { this.prior.mean = Number(number.value); this.tell(); }
      });
      box.append(this.labelled(this.words("number"), number, "field"));
    }
    if (this.prior.kind === "own") {
      const text = Object.entries(this.prior.weights).map(([n, w]) => `${n}: ${w}`).join(", ");
      const input = this.make("input", { type: "text", value: text });
      const wrong = this.make("span", { role: "status", className: "wrong" });
      input.addEventListener("input", () => {
        const weights = {};
        const fine = input.value.split(/[,;]/).every((part) => {
          const match = /^\s*(\d{1,9})\s*:\s*(\d+(?:\.\d+)?)\s*$/.exec(part);
          if (match) weights[Number(match[1])] = Number(match[2]);
          return match;
        });
        wrong.textContent = fine ? "" : this.words("own_wrong");
        if (fine) { this.prior = { ...this.prior, weights }; this.tell(); }
      });
      box.append(this.labelled(this.words("own_form"), input, "field"), wrong);
    }
    if (inner && (this.prior.kind === "positive" || this.prior.kind === "poisson")) {
      const tick = this.make("input", { type: "checkbox", checked: this.prior.cell !== undefined });
      tick.addEventListener("change", () => {
        if (tick.checked) this.prior.cell = this.reader.flat(this.chosen); else delete this.prior.cell;
        this.tell();
      });
      box.append(this.make("label", { className: "tick" }, tick, this.words("here")));
    }
    return box;
  }

  inner() {
    return this.chosen && this.shown.inner && !this.chosen.includes(-1);
  }

  /** Say what is believed of the chosen count. */
  tell() {
    if (!this.aside) return;
    this.aside.classList.toggle("open", this.chosen !== null || this.marking);
    this.aside.classList.toggle("marking", this.marking);
    if (this.marking) {
      this.answer.replaceChildren(...this.best());
      return;
    }
    if (!this.chosen) {
      this.answer.replaceChildren(this.make("p", { className: "quiet" }, this.model.way === "none" ? "" : this.words(this.sums ? "choose_sum" : "choose")));
      return;
    }
    const names = this.chosen.map((i, axis) => this.category(axis, i)).join(", ") || this.words("total");
    const count = this.count(this.chosen);
    const said = count === null ? this.words("not_published", { cell: names }) : this.words("published", { cell: names, count: this.number(count) });
    const parts = [this.make("h2", {}, said)];
    if (this.sums) parts.push(this.make("p", {}, this.make("strong", {}, this.ofSum(count === null || this.model.noise))));
    else if (!this.inner()) parts.push(this.make("p", {}, this.words("sum")));
    else if (this.model.way !== "none") {
      try {
        const law = this.reader.distribution(this.chosen, this.prior);
        parts.push(...this.told(Object.entries(law).map(([n, p]) => [Number(n), p]).sort((a, b) => a[0] - b[0]), count));
      } catch (error) {
        const far = error instanceof Contradicted;
        if (!far && !(error instanceof Impossible)) throw error;
        parts.push(this.make("p", { className: "note" }, this.words(far ? "contradicted" : "impossible")));
      }
    }
    this.answer.replaceChildren(...parts);
  }

  /** The flat inner cells behind an index of the table that is shown; null for a table of groups. */
  behind(index) {
    const { variables, shape } = this.release, own = this.shown.variables;
    const axes = own.map((one, k) => { const axis = variables.indexOf(one.name); return axis >= 0 && shape[axis] === this.sizes[k] ? axis : -1; });
    if (axes.includes(-1)) return null;
    return shape.reduce((cells, size, axis) => {
      const k = axes.indexOf(axis), every = k < 0 || index[k] < 0;
      return cells.flatMap((cell) => (every ? [...Array(size).keys()] : [index[k]]).map((i) => cell * size + i));
    }, [0]);
  }

  mark(cell) {
    this.focus(cell);
    const marks = this.marks[this.asked.kind === "sum" ? 0 : this.asked.into], cells = this.behind(cell.index);
    if (cells === null) {
      this.answer.replaceChildren(this.make("p", { className: "note" }, this.words("which_grouped")));
      return;
    }
    const all = cells.every((one) => marks.has(one));
    for (const one of cells) if (all) marks.delete(one); else marks.add(one);
    this.showMarks();
    this.drawPanel();
    this.tell();
  }

  showMarks() {
    for (const cell of this.table.querySelectorAll("td")) {
      const cells = this.marking ? this.behind(cell.index) : null;
      this.marks.forEach((marks, n) => {
        const shown = cells !== null && (n === 0 || this.asked.kind !== "sum") && cells.every((one) => marks.has(one));
        cell.classList.toggle(n ? "other" : "marked", shown);
      });
      if (this.marking) cell.ariaSelected = String(cell.classList.contains("marked") || cell.classList.contains("other"));
    }
  }

  /** Marked cells as the program reads them: categories by variable, block by block. */
  named(marks) {
    const { variables, shape } = this.release, blocks = new Map();
    const tables = this.release.tables, inner = tables.find((one) => one.inner);
    const quote = (text) => (/[,;="]|\s[-+/]\s|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const names = (axis) => (inner || tables.find((one) => one.variables.some((v) => v.name === variables[axis]))).variables.find((v) => v.name === variables[axis]).categories;
    // Cells with the same categories of all variables but the last are one block, then of all but the one before it.
    let found = [...marks].sort((a, b) => a - b).map((cell) => {
      const at = [];
      for (let axis = shape.length - 1, left = cell; axis >= 0; axis--) { at[axis] = [left % shape[axis]]; left = Math.floor(left / shape[axis]); }
      return at;
    });
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      blocks.clear();
      for (const at of found) {
        const key = at.map((places, k) => (k === axis ? "" : places.join())).join(";");
        if (blocks.has(key)) blocks.get(key)[axis].push(...at[axis]); else blocks.set(key, at.map((places) => [...places]));
      }
      found = [...blocks.values()];
    }
    const said = found.map((at) => at.map((places, axis) => (places.length === shape[axis] ? "" : `${quote(variables[axis])}=${places.map((i) => quote(names(axis)[i])).join(",")}`)).filter(Boolean).join("; "));
    return said.map((one) => one || `${quote(variables[0])}=${names(0).map(quote).join(",")}`).join(" + ");
  }

  question() {
    const [first, others] = this.marks.map((marks) => this.named(marks));
    return first + { sum: "", difference: ` - ${others}`, rate: ` / ${others}` }[this.asked.kind];
  }

  asking() {
    const box = this.make("fieldset", { className: "asking" }, this.make("legend", {}, this.words("which_of")));
    const radio = (group, value, text, checked, then) => {
      const made = this.make("input", { type: "radio", name: group, value: String(value), checked });
      made.addEventListener("change", () => {
        then();
        this.showMarks();
        this.drawPanel();
        this.tell();
        this.aside.querySelector(`input[name=${group}][value="${value}"]`).focus();
      });
      return this.make("label", { className: "radio" }, made, this.make("span", {}, text));
    };
    for (const kind of ["sum", "difference", "rate"]) {
      box.append(radio("kind", kind, this.words(`which_${kind}`), this.asked.kind === kind, () => { this.asked = { kind, into: this.marks[0].size ? Number(kind !== "sum") : 0 }; }));
    }
    const parts = [this.make("p", { className: "quiet" }, this.words("which_help")), box];
    if (this.asked.kind !== "sum") {
      const into = this.make("fieldset", { className: "asking" }, this.make("legend", {}, this.words("which_into")));
      ["which_first", "which_others"].forEach((name, n) => {
        const cells = this.named(this.marks[n]) || this.words("which_none");
        into.append(radio("into", n, this.words(name, { cells }), this.asked.into === n, () => { this.asked.into = n; }));
      });
      parts.push(into);
    }
    const clear = this.make("button", { type: "button", className: "plain" }, this.words("which_clear"));
    clear.addEventListener("click", () => {
      this.marks = [new Set(), new Set()];
      this.asked.into = 0;
      this.showMarks();
      this.drawPanel();
      this.tell();
      const cell = this.table.querySelector("td[tabindex='0']");
      if (cell) cell.focus();
    });
    parts.push(clear);
    return this.make("div", {}, ...parts);
  }

  /** What the published total of just the marked cells, the sum of its parts, and both leave by their noise. */
  sources(cells) {
    const { variables, shape, tables } = this.release, inner = tables.find((one) => one.inner);
    const of = (table, at) => (Array.isArray(table.variance) ? table.variance[at] : table.variance);
    if (!inner || inner.variance === undefined || cells.length < 2 || inner.hidden.some((cell) => cells.includes(cell))) return null;
    const place = (cell, axis) => Math.floor(cell / shape.slice(axis + 1).reduce((a, b) => a * b, 1)) % shape[axis];
    for (const table of tables) {
      const axes = table.variables.map((one) => variables.indexOf(one.name));
      if (table.inner || table.variance === undefined || axes.some((axis, k) => axis < 0 || table.variables[k].categories.length !== shape[axis])) continue;
      const fixed = axes.reduce((size, axis) => size * shape[axis], 1), whole = shape.reduce((a, b) => a * b, 1) / fixed;
      if (cells.length !== whole || axes.some((axis) => cells.some((cell) => place(cell, axis) !== place(cells[0], axis)))) continue;
      const at = axes.reduce((flat, axis) => flat * shape[axis] + place(cells[0], axis), 0);
      if (table.hidden.includes(at)) continue;
      const total = of(table, at), parts = cells.reduce((sum, cell) => sum + of(inner, cell), 0);
      return total + parts > 0 ? { total, parts, both: (parts / (total + parts)) * total } : null;
    }
    return null;
  }

  best() {
    if (!this.reader.adds) return [this.make("p", { className: "note" }, this.words("which_program"))];
    const [cells, others] = this.marks.map((marks) => [...marks].sort((a, b) => a - b)), { kind } = this.asked;
    if (!cells.length || (kind !== "sum" && !others.length)) return [];
    const asked = this.question(), whole = kind !== "rate";
    const written = (n, places) => this.number(n.toFixed(places));
    const said = [];
    try {
      const found = this.reader.number(kind, cells, kind === "sum" ? [] : others), { estimate } = found;
      const number = written(estimate, whole ? 1 : 4);
      if (found.low === found.high && !found.draws) {
        said.push(this.words("which_known", { asked, estimate: Number.isInteger(Math.round(estimate * 1e9) / 1e9) ? written(estimate, 0) : number }));
      } else {
        said.push(this.words("which_answer", { asked, estimate: number, low: written(found.low, whole ? 0 : 4), high: written(found.high, whole ? 0 : 4), level: 90 }));
        const sources = kind === "sum" ? this.sources(cells) : null;
        if (sources) said.push(this.words("which_sources", Object.fromEntries(Object.entries(sources).map(([name, n]) => [name, written(n, 2)]))));
        else if (kind === "sum" && cells.length > 1) said.push(this.words("which_no_sources"));
        if (found.draws) said.push(this.words("which_drawn", { error: this.number(found.error.toPrecision(2)) }));
      }
    } catch (error) {
      if (error instanceof MayBeNone) return [this.make("p", { className: "note" }, this.words("which_may_be_none"))];
      if (error instanceof Impossible) return [this.make("p", { className: "note" }, this.words("impossible"))];
      throw error;
    }
    const copy = this.make("button", { type: "button" }, this.words("which_copy"));
    copy.addEventListener("click", () => this.copy(said.join(" ")));
    const quoted = `"${asked.replace(/(["\\$`])/g, "\\$1")}"`;
    return [this.make("p", { className: "said" }, this.make("strong", {}, said[0]), " ", said.slice(1).join(" ")), copy,
      this.make("p", { className: "quiet" }, this.words("which_command"), " ", this.make("code", {}, `tabprotect infer RELEASE.zip --of ${quoted}`))];
  }

  /** Where the true sum lies. */
  ofSum(unknown) {
    if (!unknown) return this.words("shown_sum");
    if (this.model.way === "none") return "";
    const [low, high] = this.model.ranges[this.model.range[this.flat(this.chosen)]], units = 10 ** this.sums.decimals;
    const written = (n) => this.number((n / units).toFixed(this.sums.decimals));
    if (high === null) return this.words("at_least", { low: written(Math.floor(low)) });
    return this.words(this.model.noise ? "alone" : "between", { low: written(Math.floor(low)), high: written(Math.ceil(high)) });
  }

  /** The shortest central range that leaves out at most so much on either side. */
  range(law, outside) {
    let below = 0, low = null, high = law[law.length - 1][0];
    for (const [count, chance] of law) {
      below += chance;
      if (low === null && below > outside) low = count;
      if (below > 1 - outside) { high = count; break; }
    }
    return [low === null ? law[0][0] : low, high];
  }

  told(law, published) {
    const best = law.reduce((a, b) => (b[1] > a[1] + 1e-9 || (Math.abs(b[1] - a[1]) <= 1e-9 && b[0] === published) ? b : a));
    const number = (n) => this.number(n);
    if (law.length === 1) return [this.make("p", {}, this.make("strong", {}, this.words("certain", { count: number(best[0]) })))];
    const [low, high] = this.range(law, 0.005), [from, to] = this.range(law, 0.05);
    const could = this.words(high === low + 1 || law.length === 2 ? "two" : "could", { low: number(low), high: number(high) });
    const line = this.make("p", {}, this.make("strong", {}, could), " ",
      this.words("likely", { count: number(best[0]), chance: this.in100(best[1]) }), " ",
      this.words("nine", { low: number(from), high: number(to) }));
    const out = [line, this.bars(law, best[0], published, low, high)];
    const small = /^(\d+)(?:\.\.(\d+))?$/.exec(this.release.small || "");
    if (small) {
      const first = Number(small[1]), last = Number(small[2] || small[1]);
      const chance = law.reduce((sum, [n, p]) => (n >= first && n <= last ? sum + p : sum), 0);
      const spoken = first === last ? small[1] : `${first}\u2013${last}`;
      out.push(this.make("p", { className: "fact" }, this.make("span", {}, this.words("small", { range: spoken })), this.make("b", {}, this.words("in_100", { chance: this.in100(chance) }))));
    }
    const rows = law.filter(([, p]) => p >= 5e-7).slice(0, 500);
    out.push(this.make("details", {}, this.make("summary", {}, this.words("chances")),
      this.make("table", {}, this.make("thead", {}, this.make("tr", {}, this.make("th", { scope: "col" }, this.words("count")), this.make("th", { scope: "col", className: "number" }, this.words("chance")))),
        this.make("tbody", {}, ...rows.map(([n, p]) => this.make("tr", {}, this.make("th", { scope: "row" }, number(n)), this.make("td", {}, p.toFixed(6))))))));
    return out;
  }

  /** What was assumed before, over the counts of a picture. */
  before(counts) {
    if (!this.reader.exact) return counts.map(() => 1 / counts.length);
    const cell = this.reader.flat(this.chosen), structural = this.reader.structural;
    const logs = counts.map((n) => logWeight(this.prior, cell, n, structural)), peak = Math.max(...logs);
    const weights = logs.map((log) => (peak === -Infinity ? 0 : Math.exp(log - peak)));
    const total = weights.reduce((a, b) => a + b, 0) || 1;
    return weights.map((weight) => weight / total);
  }

  bars(law, best, published, low, high) {
    const chances = new Map(law), counts = [];
    let first = low, last = high;
    if (published !== null && published < first && first - published <= 2) first = published;
    if (published !== null && published > last && published - last <= 2) last = published;
    for (let n = first; n <= last; n++) counts.push(n);
    const width = Math.ceil(counts.length / MOST_BARS), bins = [];
    const before = this.before(counts);
    counts.forEach((n, k) => {
      if (k % width === 0) bins.push({ from: n, to: n, chance: 0, before: 0 });
      const bin = bins[bins.length - 1];
      bin.to = n; bin.chance += chances.get(n) || 0; bin.before += before[k];
    });
    // Few bars do not fill the width.
    const W = 396, top = 22, floor = 170, slot = W / Math.max(bins.length, 7), left = (W - slot * bins.length) / 2;
    const most = Math.max(...bins.map((bin) => Math.max(bin.chance, bin.before)));
    const height = (p) => ((floor - top) * p) / most;
    const svg = document.createElementNS(SVG, "svg");
    const draw = (tag, properties, text) => {
      const made = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
      if (text !== undefined) made.textContent = text;
      svg.append(made);
    };
    svg.setAttribute("viewBox", `0 0 ${W} 212`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", this.words("pictured"));
    const every = Math.max(1, Math.ceil(bins.length / Math.min(14, Math.floor(60 / String(last).length))));
    bins.forEach((bin, k) => {
      const x = left + k * slot, gap = Math.min(6, slot * 0.12), middle = x + slot / 2;
      const own = best >= bin.from && best <= bin.to, here = published !== null && published >= bin.from && published <= bin.to;
      draw("rect", { x: x + gap, width: slot - 2 * gap, y: floor - height(bin.chance), height: height(bin.chance), class: own ? "best" : "chance" });
      draw("rect", { x: x + gap / 2, width: slot - gap, y: floor - height(bin.before), height: height(bin.before), class: "before" });
      if (bins.length <= 12 && bin.chance > 0) {
        const percent = bin.chance >= 0.995 && bin.chance < 1 ? ">99" : bin.chance < 0.005 ? "<1" : String(Math.round(100 * bin.chance));
        draw("text", { x: middle, y: Math.min(floor - height(bin.chance), floor) - 5, class: "value" }, `${percent}\u202f%`);
      }
      if (k % every === 0) draw("text", { x: middle, y: floor + 17 }, this.number(bin.from));
      if (here) draw("text", { x: Math.min(Math.max(middle, 45), W - 45), y: floor + 36, class: "here" }, `\u25b2 ${this.words("mark")}`);
    });
    draw("line", { x1: 0, x2: W, y1: floor, y2: floor });
    const said = [this.words("bars"), width > 1 ? this.words("bins", { width }) : ""].filter(Boolean).join(" ");
    return this.make("figure", {}, svg, this.make("figcaption", {}, said));
  }

  about() {
    const { release } = this, said = release.said[this.language];
    const prints = Object.entries(release.prints).map(([name, figures]) => this.make("div", {}, this.make("dt", {}, name), this.make("dd", {}, this.make("code", {}, figures.match(/.{8}/g).join(" ")))));
    const what = this.language === "en" && release.what ? this.make("p", {}, release.what) : null;
    return this.make("footer", {},
      this.make("section", {}, this.make("h2", {}, this.words("method")), this.make("p", {}, this.make("b", {}, `${said.method}.`)), what,
        this.make("h2", {}, this.words("exact_title")), this.make("p", {}, said.exact),
        this.make("ul", {}, ...said.promised.map((line) => this.make("li", {}, line))),
        this.make("h2", {}, this.words("parts")), this.make("p", {}, said.parts),
        ...(release.told ? [this.make("h2", {}, this.words("about_table")), this.make("dl", {}, ...release.told[this.language].map(([word, text]) => this.make("div", {}, this.make("dt", {}, word), this.make("dd", {}, text))))] : [])),
      this.make("section", {}, this.make("h2", {}, this.words("naive")), this.make("p", {}, said.naive),
        this.make("h2", {}, this.words("genuine")), this.make("p", {}, this.words("genuine_help")), this.make("dl", {}, ...prints),
        this.make("p", { className: "quiet" }, this.words("made"))));
  }

  /** The table that is shown, every cell of it in long form. */
  csv() {
    const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = [...this.shown.variables.map((one) => quote(one.name)), this.sums ? "value" : "count", ...this.beside.map(([name]) => name)];
    const rows = this.shown.variables.reduce((made, one) => made.flatMap((row) => one.categories.map((name) => [...row, quote(name)])), [[]]);
    rows.forEach((row, flat) => row.push(this.hidden.has(flat) ? "" : this.shown.counts[flat], ...this.beside.map(([, texts]) => texts[flat])));
    return `${[heads, ...rows].join("\n")}\n`;
  }

  async copy(text) {
    const status = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = this.words("copied");
    } catch {
      const area = this.make("textarea", { value: text, readOnly: true, ariaLabel: this.words("copy") });
      status.replaceChildren(this.words("not_copied"), area);
      area.select();
      if (document.execCommand("copy")) status.textContent = this.words("copied");
    }
  }
}

function start() {
  const held = (id) => JSON.parse(document.getElementById(id).textContent);
  const release = held("release"), model = held("model");
  const reader = new Reader(release, model);
  window.reader = reader;
  new View(release, reader, model).draw();
}

if (typeof document !== "undefined") start();
