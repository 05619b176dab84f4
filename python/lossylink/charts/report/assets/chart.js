// Draws every <figure class="chart"> from the JSON inside it. uPlot has the axes, lines, staircases and the zoom by
// drag; here are the marks that uPlot lacks, a legend of shapes and the read-out under the pointer.
"use strict";
(() => {
  const HEIGHT = 380;
  const WORDS_LEFT = 190; // room for categories in words
  const NEAR_PIXELS = 10; // a pointer this close to a marker reads that marker
  const PAD_SHARE = 0.04; // of an axis, beyond the data
  const BAR_SHARE = 0.8; // of a category's place
  const NARROW_DECADES = 0.5; // fewer have even steps
  const FEW_DECADES = 2.2; // up to so many, 2 and 5 are labelled, too
  const BEYOND = 1e6; // a staircase that goes on so far leaves every axis
  const FAINT = "17"; // opacity of areas, behind a colour
  const FONT = 'px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';
  const DASHES = { dashed: [7, 4], dotted: [1.5, 3.5] };
  const SLOT_MARKERS = { blue: "square", green: "triangle", orange: "down", purple: "diamond", sky: "cross",
    yellow: "square" };
  const SHAPES = {
    circle: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", square: "M-4,-4h8v8h-8z", triangle: "M0,-4.8L4.4,3.2H-4.4z",
    down: "M0,4.8L4.4,-3.2H-4.4z", diamond: "M0,-5.2L5.2,0L0,5.2L-5.2,0z", cross: "M-4,-4L4,4M4,-4L-4,4",
    right: "M4.8,0L-3.2,4.4V-4.4z", dot: "M-1.5,0a1.5,1.5 0 1,0 3,0a1.5,1.5 0 1,0 -3,0",
    bar: "M-8,-5H8V5H-8z", small: "M-2.5,-2.5l5,5m0,-5l-5,5",
  };

  const colour = (slot) => getComputedStyle(document.documentElement).getPropertyValue(`--${slot}`);
  const hasLine = (series) => !["points", "bars", "dots"].includes(series.kind);
  const hasMarkers = (series) => series.kind === "points" || series.kind === "marked";
  const isHollow = (series, i) => (series.hollow ? series.hollow[i] : series.kind === "points");
  const dashesOf = (series) => DASHES[series.stroke] || (!series.stroke && series.dashed ? [6, 4] : []);
  const shapeOf = (series, i) => (series.kind === "bars" ? "bar"
    : series.kind === "dots" ? (series.dashed ? "small" : "dot")
      : (series.markers && series.markers[i]) || series.marker || SLOT_MARKERS[series.colour] || "circle");
  // Dashes lie over what is solid, so that lines which coincide both show; markers lie over all lines.
  const layerOf = (series) => (series.kind === "points" ? 2 : series.dashed ? 1 : 0);

  // ---- numbers and axes --------------------------------------------------------------------------------------

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

  function ends(spec, key) {
    const axis = spec[key];
    if (axis.categories) return [-0.6, axis.categories.length - 0.4];
    const found = spec.series
      .flatMap((s) => [...s[key], ...(key === "y" ? [...(s.y_low || []), ...(s.y_high || [])] : [])])
      .map((value) => flatten(axis, value)).filter(Number.isFinite);
    const [low, high] = [Math.min, Math.max].map((most) => found.reduce((a, b) => most(a, b), found[0] || 0));
    const pad = (high - low || 1) * PAD_SHARE;
    return [axis.low ?? unflatten(axis, low - pad), axis.high ?? unflatten(axis, high + pad)];
  }

  // One to nine times each power of ten; even steps where these are too few.
  function logSplits(low, high) {
    if (Math.log10(high / low) < NARROW_DECADES) {
      return [1, 2, 3, 4].map((n) => Number((low + (high - low) * n / 5).toPrecision(3)));
    }
    const powers = Array.from({ length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 },
      (_, n) => Math.floor(Math.log10(low)) + n);
    return powers.flatMap((power) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((m) => Number(`${m}e${power}`)))
      .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  }

  function logWords(splits, decades, wanted) {
    const stride = Math.max(1, Math.ceil(decades / wanted));
    return splits.map((value) => {
      const [mantissa, power] = value.toExponential().split("e").map(Number);
      const isWord = decades < NARROW_DECADES || (mantissa === 1 && power % stride === 0)
        || ((mantissa === 2 || mantissa === 5) && decades < FEW_DECADES);
      return isWord ? figure(value, 3) : "";
    });
  }

  function axisOf(spec, key) {
    const axis = spec[key];
    const fixed = axis.categories ? axis.categories.map((_, n) => n) : axis.ticks;
    const within = (values, low, high) => values.filter((value) => value >= low && value <= high);
    return {
      scale: key, side: key === "x" ? 2 : 3, label: axis.label + (axis.unit ? ` (${axis.unit})` : ""),
      size: key === "x" ? 24 : axis.categories ? WORDS_LEFT - 20 : 46, space: key === "x" ? 70 : 40,
      labelSize: 20, gap: 6,
      font: `12${FONT}`, labelFont: `12.5${FONT}`, stroke: () => colour("soft"), ticks: { show: false },
      grid: { stroke: () => colour("line"), width: 1 }, filter: (_, splits) => splits,
      ...(fixed ? { splits: (_, __, low, high) => within(fixed, low, high) }
        : isLog(axis) ? { splits: (_, __, low, high) => logSplits(low, high) } : {}),
      values: ({ scales }, splits) => (axis.categories ? splits.map((value) => axis.categories[value])
        : fixed || !isLog(axis) ? splits.map((value) => figure(value, 6))
          : logWords(splits, Math.log10(scales[key].max / scales[key].min), key === "x" ? 7 : 6)),
    };
  }

  // Another measure of the x axis, above the plot.
  const topAxis = (top) => ({
    scale: "x", side: 0, label: top.label, size: 18, labelSize: 16, gap: 2, font: `12${FONT}`, labelFont: `12${FONT}`,
    stroke: () => colour("soft"), grid: { show: false }, ticks: { show: false }, filter: (_, splits) => splits,
    splits: (_, __, low, high) => top.ticks.map(([value]) => value).filter((value) => value >= low && value <= high),
    values: (_, splits) => splits.map((value) => top.ticks.find(([at]) => at === value)[1]),
  });

  class ChartView {
    constructor(figureElement, spec) {
      this.spec = spec;
      this.series = [...spec.series].sort((a, b) => layerOf(a) - layerOf(b));
      this.hidden = new Set();
      this.home = { x: ends(spec, "x"), y: ends(spec, "y") };
      this.legend = this.make("div", { class: "legend", role: "group", "aria-label": "series" });
      this.stage = this.make("div", { class: "stage" });
      this.tip = this.make("div", { class: "tip", hidden: "" }, this.stage);
      figureElement.prepend(this.legend, this.stage);
      this.buildLegend();
      new ResizeObserver(() => requestAnimationFrame(() => this.fit())).observe(this.stage);
    }

    make(name, attributes, parent, text = "") {
      const made = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.append(text);
      if (parent) parent.append(made);
      return made;
    }

    // A chart in a folded section is drawn when that section opens.
    fit() {
      const size = { width: this.stage.clientWidth, height: HEIGHT };
      if (!size.width) return;
      if (!this.plot) this.plot = this.build(size);
      else if (this.plot.width !== size.width) this.plot.setSize(size);
    }

    build(size) {
      const { spec } = this;
      const scale = (key) => ({ time: false, distr: isLog(spec[key]) ? 3 : 1, range: this.home[key],
        dir: key === "y" && spec.y.categories ? -1 : 1 }); // the first category of the y axis is on top
      const plot = new uPlot({
        ...size, mode: 2, legend: { show: false }, padding: [spec.top ? 2 : 20, 14, 0, 0],
        scales: { x: scale("x"), y: scale("y") },
        axes: [axisOf(spec, "x"), axisOf(spec, "y"), ...(spec.top ? [topAxis(spec.top)] : [])],
        series: [{}, ...this.series.map((series) => this.lineOf(series))],
        cursor: { x: spec.read === "x", y: spec.read === "percentile", points: { show: false },
          drag: { x: true, y: true, dist: 6, setScale: false },
          bind: { dblclick: () => () => this.look(this.home) } },
        hooks: {
          drawAxes: [() => this.drawGuides()], drawSeries: [(_, place) => this.drawMarks(this.series[place - 1])],
          setCursor: [() => this.read()], setSelect: [() => this.select()],
        },
      }, [null, ...this.series.map((series) => this.dataOf(series))], this.stage);
      const names = spec.series.map((series) => series.name).join(", ");
      plot.over.setAttribute("role", "img");
      plot.over.setAttribute("aria-label", `${spec.title}. ${spec.y.label} against ${spec.x.label}, for ${names}.`);
      return plot;
    }

    lineOf(series) {
      const { linear, stepped } = uPlot.paths;
      const paths = { step: stepped({ align: -1 }), bins: stepped({ align: 1 }) }[series.kind] || linear();
      return {
        stroke: () => colour(series.colour), width: 1.9, dash: dashesOf(series), points: { show: false },
        fill: series.is_filled ? () => colour(series.colour) + FAINT : undefined,
        fillTo: (plot) => plot.scales.y.min, paths: hasLine(series) ? paths : () => null,
      };
    }

    // What a line goes through: a staircase whose values do not all end goes on to the right edge.
    dataOf(series) {
      const [low, high] = this.home.x;
      const shown = series.y.map((value) => (isLog(this.spec.y) && value <= 0 ? null : value));
      if (series.kind !== "step" || !series.never) return [series.x, shown];
      const first = series.x.length ? [] : [low];
      const beyond = isLog(this.spec.x) ? high * BEYOND : high + (high - low) * 9;
      return [[...first, ...series.x, beyond], [...first.map(() => series.never[0]), ...shown, series.never[0]]];
    }

    buildLegend() {
      const entry = (name, attributes, shape, slot, fill, dashes, words) => {
        const made = this.make(name, attributes, this.legend);
        const line = dashes ? `<path d="M1,6H25" stroke-dasharray="${dashes}"/>` : "";
        const mark = shape ? `<path d="${SHAPES[shape]}" transform="translate(13,6)" fill="${fill}"/>` : "";
        const style = `color: var(--${slot})`;
        made.innerHTML = `<svg width="26" height="12" aria-hidden="true" style="${style}">${line}${mark}</svg>`;
        made.append(words);
        return made;
      };
      const fillOf = (hollow) => (hollow ? "var(--paper)" : "currentColor");
      this.spec.series.filter((series) => !series.is_quiet).forEach((series) => {
        const dashes = hasLine(series) ? dashesOf(series).join(" ") || "none" : "";
        const shape = hasLine(series) && !hasMarkers(series) ? "" : shapeOf(series, 0);
        const button = entry("button", { type: "button", "aria-pressed": "true" }, shape, series.colour,
          fillOf(isHollow(series, 0)), dashes, series.name);
        button.addEventListener("click", () => {
          if (!this.hidden.delete(series)) this.hidden.add(series);
          button.setAttribute("aria-pressed", String(!this.hidden.has(series)));
          this.plot.series[this.series.indexOf(series) + 1].show = !this.hidden.has(series);
          this.plot.redraw();
        });
      });
      for (const key of this.spec.keys || []) {
        entry("span", { class: "key" }, key.marker, "ink", fillOf(key.hollow), "", key.label);
      }
    }

    // ---- marks -------------------------------------------------------------------------------------------------

    place(x, y) {
      return [this.plot.valToPos(x, "x"), this.plot.valToPos(y, "y")];
    }

    // Calls with the canvas in units of the page, from the corner of the plot, and only inside of the plot.
    inside(draw) {
      const { ctx, bbox } = this.plot;
      ctx.save();
      ctx.translate(bbox.left, bbox.top);
      ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
      const [width, height] = [bbox.width / uPlot.pxRatio, bbox.height / uPlot.pxRatio];
      const clipped = new Path2D();
      clipped.rect(0, 0, width, height);
      ctx.setLineDash([]);
      [ctx.font, ctx.textAlign, ctx.textBaseline, ctx.lineWidth] = [`11${FONT}`, "left", "alphabetic", 1];
      draw(ctx, width, height, clipped);
      ctx.restore();
    }

    drawGuides() {
      this.inside((ctx, width, height) => {
        [ctx.strokeStyle, ctx.fillStyle] = [colour("soft"), colour("soft")];
        ctx.strokeRect(0, 0, width, height);
        ctx.setLineDash([2, 3]);
        for (const { axis, value, label } of this.spec.guides) {
          const at = this.plot.valToPos(value, axis);
          if (at < 0 || at > (axis === "x" ? width : height)) continue;
          ctx.stroke(new Path2D(axis === "x" ? `M${at},0v${height}` : `M0,${at}h${width}`));
          ctx.fillText(label, axis === "x" ? at - 3 : 6, axis === "x" ? -6 : at - 5);
        }
      });
    }

    drawMarks(series) {
      this.inside((ctx, width, height, clipped) => {
        ctx.clip(clipped);
        [ctx.strokeStyle, ctx.fillStyle] = [colour(series.colour), colour(series.colour)];
        if (series.kind === "bars") this.drawBars(series, ctx);
        else if (series.kind === "line" && series.y_low) this.drawBand(series, ctx);
        else if (!hasLine(series) || hasMarkers(series)) this.drawPoints(series, ctx);
        for (const at of series.never || []) {
          const y = this.place(0, at)[1];
          if (series.kind === "step") this.drawShape(ctx, "right", width - 5, y, false);
          else this.drawShape(ctx, "triangle", this.place(at + this.shiftOf(series), 1)[0], 5, false);
        }
      });
    }

    drawShape(ctx, shape, x, y, hollow) {
      const path = new Path2D();
      path.addPath(new Path2D(SHAPES[shape]), new DOMMatrix([1, 0, 0, 1, x, y]));
      const inked = ctx.fillStyle;
      if (hollow) ctx.fillStyle = colour("paper");
      ctx.fill(path);
      ctx.fillStyle = inked;
      if (shape !== "dot") ctx.stroke(path);
    }

    drawBand(series, ctx) {
      const corners = [...series.x.map((x, i) => this.place(x, series.y_high[i])),
        ...series.x.map((x, i) => this.place(x, series.y_low[i])).reverse()];
      ctx.fillStyle += FAINT;
      ctx.fill(new Path2D(`M${corners.map((corner) => corner.join()).join("L")}z`));
    }

    drawPoints(series, ctx) {
      series.x.forEach((x, i) => {
        const [px, py] = this.place(x, series.y[i]);
        if (isLog(this.spec.y) && series.y[i] <= 0) return;
        if (series.y_low) this.drawInterval(series, i, px, ctx);
        ctx.lineWidth = series.kind === "dots" ? 1.3 : 1.6;
        this.drawShape(ctx, shapeOf(series, i), px, py, isHollow(series, i));
        if (!series.is_labelled) return;
        ctx.fillStyle = colour("soft");
        ctx.fillText(series.labels[i], px + 7, py - 5);
        ctx.fillStyle = ctx.strokeStyle;
      });
    }

    drawInterval(series, i, px, ctx) {
      const [low, high] = [series.y_low[i], series.y_high[i]].map((value) => this.place(1, value)[1]);
      ctx.lineWidth = 1;
      if (!Number.isFinite(low + high)) return;
      ctx.stroke(new Path2D(`M${px},${low}V${high}M${px - 3},${low}h6M${px - 3},${high}h6`));
    }

    drawBars(series, ctx) {
      const inked = ctx.fillStyle;
      this.boxesOf(series).forEach(([x, y, width, height], i) => {
        ctx.fillStyle = isHollow(series, i) ? colour("paper") : inked;
        ctx.fillRect(x, y, width, height);
        ctx.strokeRect(x, y, width, height);
        if (!series.y_low) return;
        ctx.strokeStyle = colour("ink");
        this.drawInterval(series, i, x + width / 2, ctx);
        ctx.strokeStyle = inked;
      });
      ctx.fillStyle = inked;
    }

    barsBeside() {
      return this.spec.series.filter((one) => one.kind === "bars" && !one.base && !this.hidden.has(one));
    }

    // How far the bars of a series stand from the middle of their place.
    shiftOf(series) {
      const bars = this.barsBeside();
      return series.kind !== "bars" || series.base ? 0
        : (bars.indexOf(series) - (bars.length - 1) / 2) * (BAR_SHARE / bars.length);
    }

    // Left, top, width and height of the bars of a series: beside those of other series, or on them by a base.
    boxesOf(series) {
      const [along, up] = this.spec.y.categories ? ["y", "x"] : ["x", "y"];
      const half = BAR_SHARE / 2 / (series.base ? 1 : this.barsBeside().length);
      const ground = isLog(this.spec[up]) ? this.plot.scales[up].min : 0;
      return series[along].map((middle, i) => {
        const at = middle + this.shiftOf(series);
        const base = series.base ? series.base[i] : ground;
        const top = series[up][i] + (series.base ? base : 0);
        const [a, b] = [[at - half, base], [at + half, top]]
          .map(([x, y]) => (along === "x" ? this.place(x, y) : this.place(y, x)));
        return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])];
      });
    }

    // ---- zoom --------------------------------------------------------------------------------------------------

    look(view) {
      this.plot.batch(() => ["x", "y"].forEach((key) => {
        this.plot.setScale(key, { min: view[key][0], max: view[key][1] });
      }));
    }

    select() {
      const { left, top, width, height } = this.plot.select;
      this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      if (!width || !height) return;
      const along = (key, ...at) => at.map((one) => this.plot.posToVal(one, key)).sort((a, b) => a - b);
      this.look({ x: along("x", left, left + width), y: along("y", top, top + height) });
    }

    // ---- read-out ----------------------------------------------------------------------------------------------

    read() {
      const { left, top } = this.plot.cursor;
      this.tip.hidden = true;
      if (left < 0 || this.plot.select.width) return;
      const marker = this.nearestMarker(left, top);
      if (marker) this.showMarker(marker);
      else if (this.spec.read !== "nearest") this.showReadings(left, top);
    }

    nearestMarker(px, py) {
      let best = null;
      this.spec.series.filter((series) => !this.hidden.has(series)).forEach((series) => {
        if (series.kind === "bars") {
          const i = this.boxesOf(series).findIndex(([x, y, width, height]) =>
            px >= x && px <= x + width && py >= y && py <= y + height);
          if (i >= 0) best = { series, i, px, py, distance: 0 };
        }
        if (hasMarkers(series)) series.x.forEach((x, i) => {
          const at = this.place(x, series.y[i]);
          const distance = Math.hypot(at[0] - px, at[1] - py);
          if (distance > NEAR_PIXELS || best?.distance <= distance) return;
          best = { series, i, px: at[0], py: at[1], distance };
        });
      });
      return best;
    }

    showMarker({ series, i, px, py }) {
      const word = (axis, value) => (axis.categories ? axis.categories[value] : withUnit(value, axis));
      const rows = ["x", "y"].filter((key) => this.spec[key].label)
        .map((key) => ({ name: this.spec[key].label, text: word(this.spec[key], series[key][i]) }));
      if (series.y_low) {
        rows.push({ name: "interval", text: `${figure(series.y_low[i])} to ${withUnit(series.y_high[i], this.spec.y)}` });
      }
      this.showTip(px, py, series.labels ? `${series.name}: ${series.labels[i]}` : series.name, rows);
    }

    // The value of a falling staircase or a line at the pointer, by what the chart reads.
    readSeries(series, at) {
      if (series.kind === "points" || series.kind === "bars") return "";
      if (this.spec.read === "percentile") {
        if (series.never && at.y <= series.never[0]) return "never";
        const beyond = series.y.findIndex((share) => share < at.y);
        const last = (beyond < 0 ? series.y.length : beyond) - 1;
        return last < 0 ? "" : withUnit(series.x[last], this.spec.x);
      }
      if (!series.x.length) return "";
      const distance = (x) => Math.abs(flatten(this.spec.x, x) - flatten(this.spec.x, at.x));
      const nearest = series.x.reduce((best, x, i) => (distance(x) < distance(series.x[best]) ? i : best), 0);
      return withUnit(series.y[nearest], this.spec.y);
    }

    showReadings(px, py) {
      const at = { x: this.plot.posToVal(px, "x"), y: this.plot.posToVal(py, "y") };
      const rows = this.spec.series.filter((series) => !this.hidden.has(series))
        .map((series) => ({ name: series.name, text: this.readSeries(series, at), colour: series.colour }))
        .filter((row) => row.text);
      const percentile = figure(100 * (1 - at.y), at.y < 1e-3 ? 6 : at.y < 1e-2 ? 4 : 3);
      const title = this.spec.read === "percentile" ? `percentile ${percentile}`
        : `${this.spec.x.label} ${withUnit(at.x, this.spec.x)}`;
      if (rows.length) this.showTip(px, py, title, rows);
    }

    showTip(px, py, title, rows) {
      this.tip.replaceChildren();
      this.make("strong", {}, this.tip, title);
      const table = this.make("table", {}, this.tip);
      for (const row of rows) {
        const line = this.make("tr", {}, table);
        const name = this.make("td", {}, line);
        if (row.colour) this.make("i", { style: `background: var(--${row.colour})` }, name);
        name.append(row.name);
        this.make("td", {}, line, row.text);
      }
      this.tip.hidden = false;
      const { over, width } = this.plot;
      const [left, top] = [over.offsetLeft + px, over.offsetTop + py];
      this.tip.style.left = `${Math.max(0, left > width / 2 ? left - this.tip.offsetWidth - 14 : left + 14)}px`;
      this.tip.style.top = `${Math.max(0, Math.min(top + 10, HEIGHT - this.tip.offsetHeight))}px`;
    }
  }

  const views = [...document.querySelectorAll("figure.chart")].map((element) => {
    const source = element.dataset.of ? document.getElementById(element.dataset.of) : element;
    return new ChartView(element, JSON.parse(source.querySelector("script").textContent));
  });
  // Colours of paper and of the dark are others, and a sheet of paper shows folded sections, too.
  for (const query of ["print", "(prefers-color-scheme: dark)"]) {
    matchMedia(query).addEventListener("change", () => views.forEach((view) => { view.fit(); view.plot?.redraw(); }));
  }
})();
