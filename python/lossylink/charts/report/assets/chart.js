// Draws every <figure class="chart"> from the JSON inside it: linear or logarithmic axes or categories, lines,
// staircases, dots, bars, markers with error bars; a legend that toggles, a read-out under the pointer, zoom by drag,
// wheel and keys.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 20, right: 14, bottom: 44, left: 66 };
  const WORDS_LEFT = 190; // room for categories in words
  const HEIGHT = 380;
  const NEAR_PIXELS = 10; // a pointer this close to a marker reads that marker
  const ZOOM_STEP = 1.25;
  const SMALLEST_DRAG_PIXELS = 6; // less is a click
  const BAR_SHARE = 0.8; // of a category's place
  const SLOT_MARKERS = { blue: "square", green: "triangle", orange: "down", purple: "diamond", sky: "cross",
    yellow: "square" };
  const hasMarkers = (series) => series.kind === "points" || series.kind === "marked";
  const markerOf = (series, i) =>
    (series.markers && series.markers[i]) || series.marker || SLOT_MARKERS[series.colour] || "circle";
  // What never ended has an arrow at the edge: right of a staircase at its last share, above everything else.
  const endsRight = (series) => series.kind === "step";
  const isHollow = (series, i) => (series.hollow ? series.hollow[i] : series.kind === "points");

  // ---- numbers -----------------------------------------------------------------------------------------------

  const superscript = (n) => String(n).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);

  function figure(value, digits = 4) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e7) {
      const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
      const short = mantissa.replace(/\.?0+$/, "");
      return (short === "1" ? "" : short + " × ") + "10" + superscript(Number(exponent));
    }
    return Number(value.toPrecision(digits)).toLocaleString("en-GB", { maximumFractionDigits: 10 });
  }

  const withUnit = (value, axis) => figure(value) + (axis.unit ? " " + axis.unit : "");
  const isLog = (axis) => axis.scale === "log";
  const flatten = (axis, value) => (isLog(axis) ? Math.log10(value) : value);
  const unflatten = (axis, value) => (isLog(axis) ? 10 ** value : value);

  function linearTicks(low, high, wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const ticks = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) {
      ticks.push({ at: n * step, text: figure(Number((n * step).toPrecision(12)), 6) });
    }
    return ticks;
  }

  // Decades, their minor lines, and labels at 2 and 5 once few decades are in view.
  function logTicks(low, high, wanted) {
    if (high - low < 0.5) {
      const ticks = linearTicks(10 ** low, 10 ** high, wanted);
      return ticks.filter((t) => t.at > 0).map((t) => ({ ...t, at: Math.log10(t.at) }));
    }
    const stride = Math.max(1, Math.ceil((high - low) / wanted));
    const ticks = [];
    for (let decade = Math.floor(low); decade <= high; decade += 1) {
      for (let m = 1; m < 10; m += 1) {
        const at = decade + Math.log10(m);
        if (at < low - 1e-9 || at > high + 1e-9) continue;
        const labelled = (m === 1 && decade % stride === 0) || ((m === 2 || m === 5) && high - low < 2.2);
        ticks.push({ at, text: labelled ? figure(m * 10 ** decade, 3) : "", minor: m !== 1 });
      }
    }
    return ticks;
  }

  const ticksOf = (axis, [low, high], wanted) => axis.categories
    ? axis.categories.map((text, at) => ({ at, text })).filter((t) => (t.at - low) * (t.at - high) <= 0)
    : axis.ticks ? axis.ticks.map((value) => ({ at: flatten(axis, value), text: figure(value) }))
      .filter((t) => t.at >= low && t.at <= high)
    : isLog(axis) ? logTicks(low, high, wanted) : linearTicks(low, high, wanted);

  // ---- data --------------------------------------------------------------------------------------------------

  function fullView(spec) {
    const domain = (key) => {
      const axis = spec[key];
      // The first category of the y axis is on top.
      if (axis.categories) {
        const ends = [-0.6, axis.categories.length - 0.4];
        return key === "y" ? ends.reverse() : ends;
      }
      const values = spec.series
        .flatMap((s) => [...s[key], ...(key === "y" ? [...(s.y_low || []), ...(s.y_high || [])] : [])])
        .filter((v) => Number.isFinite(v) && !(isLog(axis) && v <= 0))
        .map((v) => flatten(axis, v));
      let low = values.reduce((a, b) => Math.min(a, b), Infinity);
      let high = values.reduce((a, b) => Math.max(a, b), -Infinity);
      if (!values.length) low = high = 0;
      const pad = (high - low || 1) * 0.04;
      low = axis.low === undefined ? low - pad : flatten(axis, axis.low);
      high = axis.high === undefined ? high + pad : flatten(axis, axis.high);
      return [low, high];
    };
    return { x: domain("x"), y: domain("y") };
  }

  // Value of a falling staircase or a line at the pointer, by what the chart reads.
  function readSeries(series, spec, at) {
    if (series.kind === "points" || series.kind === "bars") return null;
    if (spec.read === "percentile") {
      if (series.never && at.y <= series.never[0]) return { x: NaN, y: at.y, text: "never" };
      let found = -1;
      for (let i = 0; i < series.y.length && series.y[i] >= at.y; i += 1) found = i;
      return found < 0 ? null : { x: series.x[found], y: at.y, text: withUnit(series.x[found], spec.x) };
    }
    let best = 0;
    const distance = (i) => Math.abs(flatten(spec.x, series.x[i]) - flatten(spec.x, at.x));
    for (let i = 1; i < series.x.length; i += 1) if (distance(i) < distance(best)) best = i;
    return { x: series.x[best], y: series.y[best], text: withUnit(series.y[best], spec.y) };
  }

  // ---- drawing -----------------------------------------------------------------------------------------------

  function node(name, attributes, parent, text) {
    const made = name.startsWith("html:")
      ? document.createElement(name.slice(5))
      : document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  }

  // Dots, or crosses where the series is the second of its colour.
  const dotAt = (series, x, y) => (series.dashed
    ? `M${(x - 2.5).toFixed(2)},${(y - 2.5).toFixed(2)}l5,5m0,-5l-5,5` : `M${x.toFixed(2)},${y.toFixed(2)}h0`);
  const classOfDots = (series) => (series.dashed ? "dots crosses" : "dots");

  function pathOf(series, place) {
    let path = "";
    let previous = null;
    for (let i = 0; i < series.x.length; i += 1) {
      const [x, y] = place(series.x[i], series.y[i]);
      if (!Number.isFinite(x) || !Number.isFinite(y)) { previous = null; continue; }
      if (series.kind === "dots") path += dotAt(series, x, y);
      else if (!previous) path += `M${x.toFixed(2)},${y.toFixed(2)}`;
      else if (series.kind === "bins") path += `H${x.toFixed(2)}V${y.toFixed(2)}`;
      else if (series.kind === "step") path += `V${y.toFixed(2)}H${x.toFixed(2)}`;
      else path += `L${x.toFixed(2)},${y.toFixed(2)}`;
      previous = [x, y];
    }
    return path;
  }

  const STROKES = { solid: "none", dashed: "7 4", dotted: "1.5 3.5" };
  const dashesOf = (series) => STROKES[series.stroke] || (series.dashed ? "6 4" : "none");

  // Dashes lie over what is solid, so that lines which coincide both show; markers lie over all lines.
  const layerOf = (series) => (series.kind === "points" ? 2 : series.dashed ? 1 : 0);

  const MARKERS = {
    circle: (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    square: (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    triangle: (r) => `M0,${-1.2 * r}L${1.1 * r},${0.8 * r}H${-1.1 * r}z`,
    diamond: (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0z`,
    down: (r) => `M0,${1.2 * r}L${1.1 * r},${-0.8 * r}H${-1.1 * r}z`,
    cross: (r) => `M${-r},${-r}L${r},${r}M${r},${-r}L${-r},${r}`,
    right: (r) => `M${1.2 * r},0L${-0.8 * r},${1.1 * r}V${-1.1 * r}z`,
  };

  class ChartView {
    constructor(figureElement, spec) {
      this.figure = figureElement;
      this.spec = spec;
      this.home = fullView(spec);
      this.left = spec.y.categories ? WORDS_LEFT : MARGIN.left;
      this.view = structuredClone(this.home);
      this.hidden = new Set();
      this.legend = node("html:div", { class: "legend", role: "group", "aria-label": "series" });
      this.stage = node("html:div", { class: "stage" });
      this.svg = node("svg", { tabindex: "0", role: "img", "aria-label": this.describe() }, this.stage);
      this.tip = node("html:div", { class: "tip", hidden: "" }, this.stage);
      this.figure.prepend(this.legend, this.stage);
      this.buildLegend();
      this.listen();
      this.draw();
      new ResizeObserver(() => { if (this.stage.clientWidth !== this.width) this.draw(); }).observe(this.stage);
    }

    describe() {
      const names = this.spec.series.map((s) => s.name).join(", ");
      return `${this.spec.title}. ${this.spec.y.label} against ${this.spec.x.label}, for ${names}. ` +
        "Keys: plus and minus zoom, arrows move, 0 resets.";
    }

    buildLegend() {
      this.spec.series.forEach((series, place) => {
        if (series.is_quiet) return;
        const button = node("html:button", { type: "button", "aria-pressed": "true" }, this.legend);
        const swatch = node("svg", { width: 26, height: 12, "aria-hidden": "true" }, button);
        this.drawSample(series, swatch);
        button.append(series.name);
        button.addEventListener("click", () => {
          if (!this.hidden.delete(place)) this.hidden.add(place);
          button.setAttribute("aria-pressed", String(!this.hidden.has(place)));
          this.draw();
        });
      });
      (this.spec.keys || []).forEach((key) => {
        const words = node("html:span", { class: "key" }, this.legend);
        const swatch = node("svg", { width: 26, height: 12, "aria-hidden": "true" }, words);
        this.drawMarker(key.marker, key.hollow, swatch, [13, 6]);
        words.append(key.label);
      });
    }

    drawMarker(marker, hollow, parent, [px, py]) {
      node("path", { class: hollow || marker === "cross" ? "marker" : "marker full", d: MARKERS[marker](4),
        transform: `translate(${px},${py})` }, parent);
    }

    drawSample(series, parent) {
      const colour = `var(--${series.colour})`;
      if (hasMarkers(series)) {
        parent.setAttribute("style", `color: ${colour}`);
        if (series.kind === "marked") node("path", { class: "line", d: "M1,6H25",
          "stroke-dasharray": dashesOf(series) }, parent);
        this.drawMarker(markerOf(series, 0), isHollow(series, 0), parent, [13, 6]);
      } else if (series.kind === "bars") {
        node("rect", { class: isHollow(series, 0) ? "block hollow" : "block", x: 5, y: 1, width: 16, height: 10,
          style: `color: ${colour}` }, parent);
      } else if (series.kind === "dots") {
        const dots = [[5, 8], [13, 4], [21, 7]].map(([x, y]) => dotAt(series, x, y)).join("");
        node("path", { class: classOfDots(series), d: dots, style: `color: ${colour}` }, parent);
      } else {
        node("path", { d: "M1,6H25", stroke: colour, "stroke-width": 2,
          "stroke-dasharray": dashesOf(series) }, parent);
      }
    }

    get inner() {
      return { width: Math.max(120, this.width - this.left - MARGIN.right),
        height: HEIGHT - MARGIN.top - MARGIN.bottom };
    }

    // From data to pixels, and from pixels to data.
    place(x, y) {
      const { width, height } = this.inner;
      const [left, right] = this.view.x;
      const [bottom, top] = this.view.y;
      return [
        this.left + ((flatten(this.spec.x, x) - left) / (right - left)) * width,
        MARGIN.top + height - ((flatten(this.spec.y, y) - bottom) / (top - bottom)) * height,
      ];
    }

    flatAt(px, py) {
      const { width, height } = this.inner;
      const [left, right] = this.view.x;
      const [bottom, top] = this.view.y;
      return {
        x: left + ((px - this.left) / width) * (right - left),
        y: bottom + ((MARGIN.top + height - py) / height) * (top - bottom),
      };
    }

    draw() {
      this.width = this.stage.clientWidth || 720;
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
      this.svg.replaceChildren();
      const { width, height } = this.inner;
      const clip = `clip-${this.figure.id}`;
      node("rect", { x: this.left, y: MARGIN.top, width, height }, node("clipPath", { id: clip },
        node("defs", {}, this.svg)));
      this.drawAxes();
      const plot = node("g", { "clip-path": `url(#${clip})` }, this.svg);
      this.spec.guides.forEach((guide) => this.drawGuide(guide, plot));
      const shown = this.spec.series.filter((_, i) => !this.hidden.has(i));
      shown.sort((a, b) => layerOf(a) - layerOf(b)).forEach((series) => this.drawSeries(series, plot));
      this.overlay = node("g", { class: "overlay", "clip-path": `url(#${clip})` }, this.svg);
      this.tip.hidden = true;
    }

    drawAxes() {
      const { width, height } = this.inner;
      const bottom = MARGIN.top + height;
      const grid = node("g", { class: "grid" }, this.svg);
      const text = node("g", { class: "ticks" }, this.svg);
      for (const tick of ticksOf(this.spec.x, this.view.x, Math.max(3, width / 90))) {
        const [px] = this.place(unflatten(this.spec.x, tick.at), unflatten(this.spec.y, this.view.y[0]));
        node("path", { d: `M${px},${MARGIN.top}V${bottom}`, class: tick.minor ? "minor" : "" }, grid);
        if (tick.text) node("text", { x: px, y: bottom + 16, "text-anchor": "middle" }, text, tick.text);
      }
      for (const tick of ticksOf(this.spec.y, this.view.y, Math.max(3, height / 50))) {
        const [, py] = this.place(unflatten(this.spec.x, this.view.x[0]), unflatten(this.spec.y, tick.at));
        node("path", { d: `M${this.left},${py}H${this.left + width}`, class: tick.minor ? "minor" : "" }, grid);
        if (tick.text) node("text", { x: this.left - 7, y: py + 4, "text-anchor": "end" }, text, tick.text);
      }
      const label = (axis) => axis.label + (axis.unit ? ` (${axis.unit})` : "");
      const middle = MARGIN.top + height / 2;
      node("text", { x: this.left + width / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "axis" }, text,
        label(this.spec.x));
      node("text", { transform: `translate(14,${middle}) rotate(-90)`, "text-anchor": "middle", class: "axis" },
        text, label(this.spec.y));
      node("rect", { x: this.left, y: MARGIN.top, width, height, class: "frame" }, this.svg);
      if (this.spec.top) this.drawTop(this.spec.top, text);
    }

    // Another measure of the x axis: its words stand above the plot.
    drawTop(top, parent) {
      const [left, right] = this.view.x;
      node("text", { x: this.left + this.inner.width, y: 8, "text-anchor": "end", class: "axis" }, parent, top.label);
      for (const [value, word] of top.ticks) {
        const at = flatten(this.spec.x, value);
        if (at < left || at > right) continue;
        const [px] = this.place(value, unflatten(this.spec.y, this.view.y[0]));
        node("path", { class: "frame", d: `M${px},${MARGIN.top}v4` }, this.svg);
        node("text", { x: px, y: MARGIN.top - 3, "text-anchor": "middle" }, parent, word);
      }
    }

    drawGuide(guide, parent) {
      const { width, height } = this.inner;
      const onX = guide.axis === "x";
      const [px, py] = this.place(onX ? guide.value : unflatten(this.spec.x, this.view.x[0]),
        onX ? unflatten(this.spec.y, this.view.y[0]) : guide.value);
      node("path", { class: "guide", d: onX ? `M${px},${MARGIN.top}v${height}` : `M${this.left},${py}h${width}` },
        parent);
      const visible = px >= this.left && px <= this.left + width;
      if (onX && visible) node("text", { class: "guide", x: px - 3, y: MARGIN.top - 6 }, this.svg, guide.label);
      if (!onX) node("text", { class: "guide", x: this.left + 6, y: py - 5 }, parent, guide.label);
    }

    drawSeries(series, parent) {
      const group = node("g", { style: `color: var(--${series.colour})` }, parent);
      const place = (x, y) => this.place(x, y);
      if (series.kind === "dots") {
        node("path", { class: classOfDots(series), d: pathOf(series, place) }, group);
        return;
      }
      if (series.kind === "bars") {
        this.boxesOf(series).forEach((box) => this.drawBar(series, box, group));
        this.drawNever(series, group);
        return;
      }
      if (series.kind !== "points") {
        const path = pathOf(series, place);
        const ground = MARGIN.top + this.inner.height;
        if (series.is_filled && series.x.length) {
          const [first, last] = [0, series.x.length - 1].map((i) => place(series.x[i], series.y[i])[0]);
          node("path", { class: "area", d: `${path}L${last},${ground}H${first}z` }, group);
        }
        if (series.kind === "line" && series.y_low) {
          const high = pathOf({ ...series, y: series.y_high }, place);
          const low = pathOf({ ...series, x: [...series.x].reverse(), y: [...series.y_low].reverse() }, place);
          node("path", { class: "area", d: `${high}${low.replace("M", "L")}z` }, group);
        }
        node("path", { class: "line", d: path + this.tailOf(series), "stroke-dasharray": dashesOf(series) }, group);
        this.drawNever(series, group);
        if (series.kind !== "marked") return;
      }
      series.x.forEach((x, i) => {
        const [px, py] = place(x, series.y[i]);
        if (!Number.isFinite(px) || !Number.isFinite(py)) return;
        if (series.y_low) {
          const [, low] = place(x, series.y_low[i]);
          const [, high] = place(x, series.y_high[i]);
          if (Number.isFinite(low) && Number.isFinite(high)) node("path", { class: "bar",
            d: `M${px},${low}V${high}M${px - 3},${low}h6M${px - 3},${high}h6` }, group);
        }
        this.drawMarker(markerOf(series, i), isHollow(series, i), group, [px, py]);
        if (series.is_labelled) node("text", { x: px + 7, y: py - 5 }, group, series.labels[i]);
      });
    }

    // How a staircase whose values do not all end goes on to the right edge.
    tailOf(series) {
      if (!endsRight(series) || !series.never) return "";
      const [, y] = this.place(NaN, series.never[0]);
      const right = `H${(this.left + this.inner.width).toFixed(2)}`;
      return series.x.length ? `V${y.toFixed(2)}${right}` : `M${this.left},${y.toFixed(2)}${right}`;
    }

    drawNever(series, group) {
      const inset = 5;
      const shift = series.kind === "bars" ? this.shiftOf(series) : 0;
      (series.never || []).forEach((at) => {
        if (endsRight(series)) {
          this.drawMarker("right", false, group, [this.left + this.inner.width - inset, this.place(NaN, at)[1]]);
        } else {
          this.drawMarker("triangle", false, group, [this.place(at + shift, NaN)[0], MARGIN.top + inset]);
        }
      });
    }

    barsBeside() {
      return this.spec.series.filter((one, i) => one.kind === "bars" && !one.base && !this.hidden.has(i));
    }

    // How far the bars of a series stand from the middle of their place.
    shiftOf(series) {
      const bars = this.barsBeside();
      return series.base ? 0 : (bars.indexOf(series) - (bars.length - 1) / 2) * (BAR_SHARE / bars.length);
    }

    // Bars of a series in pixels: beside those of other series, or on them where they have a base.
    boxesOf(series) {
      const lies = Boolean(this.spec.y.categories);
      const along = lies ? "y" : "x";
      const thickness = series.base ? BAR_SHARE : BAR_SHARE / this.barsBeside().length;
      const shift = this.shiftOf(series);
      const ground = unflatten(this.spec[lies ? "x" : "y"], this.view[lies ? "x" : "y"][0]);
      return series.x.map((_, i) => {
        const at = series[along][i] + shift;
        const base = series.base ? series.base[i] : isLog(this.spec[lies ? "x" : "y"]) ? ground : 0;
        const value = series[lies ? "x" : "y"][i] + (series.base ? base : 0);
        const [a, b] = [[at - thickness / 2, base], [at + thickness / 2, value]]
          .map(([across, up]) => (lies ? this.place(up, across) : this.place(across, up)));
        return { i, x: Math.min(a[0], b[0]), y: Math.min(a[1], b[1]), width: Math.abs(a[0] - b[0]),
          height: Math.abs(a[1] - b[1]) };
      });
    }

    drawBar(series, { i, x, y, width, height }, group) {
      node("rect", { class: isHollow(series, i) ? "block hollow" : "block", x, y, width, height }, group);
      if (!series.y_low) return;
      const [low, high] = [series.y_low[i], series.y_high[i]].map((value) => this.place(series.x[i], value)[1]);
      node("path", { class: "bar over", d: `M${x + width / 2},${low}V${high}` }, group);
    }

    // ---- pointer, wheel and keys -----------------------------------------------------------------------------

    listen() {
      const at = (event) => {
        const box = this.svg.getBoundingClientRect();
        const scale = this.width / box.width;
        return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      };
      this.svg.addEventListener("pointermove", (event) => this.move(...at(event)));
      this.svg.addEventListener("pointerleave", () => { if (!this.from) this.clearOverlay(); });
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        this.from = at(event);
        this.svg.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointerup", (event) => this.drop(...at(event)));
      this.svg.addEventListener("pointercancel", () => { this.from = null; this.clearOverlay(); });
      this.svg.addEventListener("dblclick", () => this.reset());
      this.svg.addEventListener("wheel", (event) => {
        // An unfocused chart lets the page scroll.
        if (document.activeElement !== this.svg && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1 / ZOOM_STEP : ZOOM_STEP, ...at(event));
      }, { passive: false });
      this.svg.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
      if (moves[event.key]) this.pan(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1 / ZOOM_STEP);
      else if (event.key === "-") this.zoom(ZOOM_STEP);
      else if (event.key === "0" || event.key === "Escape") this.reset();
      else return;
      event.preventDefault();
    }

    reset() {
      this.view = structuredClone(this.home);
      this.draw();
    }

    pan(shareX, shareY) {
      for (const [key, share] of [["x", shareX], ["y", shareY]]) {
        const shift = (this.view[key][1] - this.view[key][0]) * share;
        this.view[key] = this.view[key].map((v) => v + shift);
      }
      this.draw();
    }

    zoom(factor, px = this.left + this.inner.width / 2, py = MARGIN.top + this.inner.height / 2) {
      const fixed = this.flatAt(px, py);
      for (const key of ["x", "y"]) {
        this.view[key] = this.view[key].map((v) => fixed[key] + (v - fixed[key]) * factor);
      }
      this.draw();
    }

    drop(px, py) {
      const from = this.from;
      this.from = null;
      this.clearOverlay();
      if (!from || Math.min(Math.abs(px - from[0]), Math.abs(py - from[1])) < SMALLEST_DRAG_PIXELS) return;
      const a = this.flatAt(...from);
      const b = this.flatAt(px, py);
      this.view = { x: [Math.min(a.x, b.x), Math.max(a.x, b.x)], y: [Math.min(a.y, b.y), Math.max(a.y, b.y)] };
      if (this.spec.y.categories) this.view.y.reverse();
      this.draw();
    }

    clearOverlay() {
      if (this.overlay) this.overlay.replaceChildren();
      this.tip.hidden = true;
    }

    move(px, py) {
      this.clearOverlay();
      if (this.from) {
        node("rect", { class: "selection", x: Math.min(px, this.from[0]), y: Math.min(py, this.from[1]),
          width: Math.abs(px - this.from[0]), height: Math.abs(py - this.from[1]) }, this.overlay);
        return;
      }
      const { width, height } = this.inner;
      const inside = px >= this.left && px <= this.left + width && py >= MARGIN.top && py <= MARGIN.top + height;
      if (!inside) return;
      const marker = this.nearestMarker(px, py);
      if (marker) this.showMarker(marker);
      else if (this.spec.read !== "nearest") this.showReadings(px, py);
    }

    nearestMarker(px, py) {
      let best = null;
      this.spec.series.forEach((series, place) => {
        if (this.hidden.has(place)) return;
        if (series.kind === "bars") {
          const box = this.boxesOf(series).find(({ x, y, width, height }) =>
            px >= x && px <= x + width && py >= y && py <= y + height);
          if (box) best = { series, i: box.i, mx: px, my: py, distance: 0 };
        }
        if (!hasMarkers(series)) return;
        series.x.forEach((x, i) => {
          const [mx, my] = this.place(x, series.y[i]);
          const distance = Math.hypot(mx - px, my - py);
          if (distance <= NEAR_PIXELS && (!best || distance < best.distance)) best = { series, i, mx, my, distance };
        });
      });
      return best;
    }

    showMarker({ series, i, mx, my }) {
      node("circle", { cx: mx, cy: my, r: 8, class: "cross" }, this.overlay);
      const word = (axis, value) => (axis.categories ? axis.categories[value] : withUnit(value, axis));
      const lines = [[this.spec.x.label, word(this.spec.x, series.x[i])],
        [this.spec.y.label, word(this.spec.y, series.y[i])]].filter(([label]) => label);
      if (series.y_low) {
        lines.push(["interval", `${figure(series.y_low[i])} to ${withUnit(series.y_high[i], this.spec.y)}`]);
      }
      const title = series.labels ? `${series.name}: ${series.labels[i]}` : series.name;
      this.showTip(mx, my, title, lines.map(([name, text]) => ({ name, text })));
    }

    showReadings(px, py) {
      const flat = this.flatAt(px, py);
      const at = { x: unflatten(this.spec.x, flat.x), y: unflatten(this.spec.y, flat.y) };
      const across = this.spec.read === "percentile";
      const { width, height } = this.inner;
      node("path", { class: "cross",
        d: across ? `M${this.left},${py}h${width}` : `M${px},${MARGIN.top}v${height}` }, this.overlay);
      const rows = [];
      this.spec.series.forEach((series, place) => {
        const reading = this.hidden.has(place) ? null : readSeries(series, this.spec, at);
        if (!reading) return;
        const [cx, cy] = this.place(reading.x, reading.y);
        if (Number.isFinite(cx)) {
          node("circle", { cx, cy, r: 3.5, style: `fill: var(--${series.colour})` }, this.overlay);
        }
        rows.push({ name: series.name, text: reading.text, colour: series.colour });
      });
      const percentile = figure(100 * (1 - at.y), at.y < 1e-3 ? 6 : at.y < 1e-2 ? 4 : 3);
      const title = across ? `percentile ${percentile}` : `${this.spec.x.label} ${withUnit(at.x, this.spec.x)}`;
      if (rows.length) this.showTip(px, py, title, rows);
    }

    showTip(px, py, title, rows) {
      this.tip.replaceChildren();
      node("html:strong", {}, this.tip, title);
      const table = node("html:table", {}, this.tip);
      for (const row of rows) {
        const line = node("html:tr", {}, table);
        const name = node("html:td", {}, line);
        if (row.colour) node("html:i", { style: `background: var(--${row.colour})` }, name);
        name.append(row.name);
        node("html:td", {}, line, row.text);
      }
      this.tip.hidden = false;
      const left = px > this.width / 2 ? px - this.tip.offsetWidth - 14 : px + 14;
      this.tip.style.left = `${Math.max(0, left)}px`;
      this.tip.style.top = `${Math.max(0, Math.min(py + 10, HEIGHT - this.tip.offsetHeight))}px`;
    }
  }

  for (const element of document.querySelectorAll("figure.chart")) {
    const source = element.dataset.of ? document.getElementById(element.dataset.of) : element;
    const view = new ChartView(element, JSON.parse(source.querySelector("script").textContent));
    element.chartView = view; // for scripts that drive a chart, tests among them
  }
})();
