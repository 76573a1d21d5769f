// plot.js: an interactive plotter for results in a page.
//
// Variables with one unit share a panel; panels share the horizontal axis. Drag over a panel: zoom; control and wheel: zoom at
// the pointer; shift and drag: move; double click: everything. Keys on a panel: arrows move the cursor (with shift: the view),
// + and - zoom, 0 shows everything. Dotted lines stand where a drawn variable jumps. Colours are those of the style sheet.
// The data is that of frontend/page/trajectory.h.
(function () {
  "use strict";
  var host = document.getElementById("plots");
  if (!host) return;
  var data = JSON.parse(document.getElementById("trajectories").textContent);
  var start = JSON.parse(document.getElementById("chosen").textContent);
  var dashes = [[], [8, 4], [3, 3], [10, 3, 2, 3]], colours = 8, mostEvents = 60;
  var margin = { left: 70, right: 14, top: 8, bottom: 24 };
  var chosen = [], view = null, pointer = null, drag = null, panels = [], against = -1, logarithmic = start.log === true;
  var hint = "drag: zoom; Ctrl and wheel: zoom; double click: all; keys: arrows, +, \u2212, 0";

  function paint_of(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
  function colour(k) { return "var(--c" + k % colours + ")"; }

  // --- data

  var LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function decimal(multiple, exponent) {
    var parts = String(multiple).split("e");
    return Number(parts[0] + "e" + (Number(parts[1] || 0) + exponent));
  }

  // Numbers as trajectory.c writes them: in digits of five bits, what they differ by from the line through the two points before; or (number), or ().
  function multiples(text, rows) {
    var at = 0, last = 0, before = 0;
    function digits() {
      for (var value = 0, factor = 1, digit = 32; digit >= 32; factor *= 32) {
        digit = LETTERS.indexOf(text[at++]);
        value += digit % 32 * factor;
      }
      return value % 2 ? -(value - 1) / 2 : value / 2;
    }
    return rows.map(function (row, k) {
      var line = last, value;
      if (k > 1) line += Math.floor((last - before) * (row - rows[k - 1]) / (rows[k - 1] - rows[k - 2]) + 0.5);
      before = last;
      if (text[at] === "(") {
        var end = text.indexOf(")", at), inner = text.slice(at + 1, end);
        at = end + 1;
        if (inner === "") return null;
        value = Number(inner);
      } else value = line + digits();
      last = Math.floor(value + 0.5);
      return value;
    });
  }

  function points(column) {
    var c = data.columns[column];
    if (c.a !== undefined && c.m === undefined) return points(c.a);
    if (c.a !== undefined && !c.rows) {
      var other = points(c.a);
      c.rows = other.rows;
      c.t = other.t;
      c.e = other.e;
      c.v = other.v.map(function (v) { return v === null ? v : 0 - v; });
    }
    if (!c.rows) {
      var row = 0;
      c.rows = c.i.match(/\(\d+\)|./g).map(function (step) {
        row += step[0] === "(" ? Number(step.slice(1, -1)) : parseInt(step, 36);
        return row;
      });
      c.t = c.rows.map(function (r) { return data.time[r]; });
      // Multiples of a power of ten: read as decimals, so that 3 times 0.1 is 0.3.
      if (c.s !== undefined) c.v = multiples(c.v, c.rows).map(function (v) { return v === null ? v : decimal(v * (c.f || 1), c.s); });
    }
    return c;
  }

  // The last point at or before a time.
  function before(times, time) {
    var low = 0, high = times.length - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  function valueAt(column, time) {
    var c = points(column), k = before(c.t, time);
    if (k + 1 >= c.t.length || c.t[k + 1] === c.t[k]) return c.v[k];
    if (c.v[k] === null || c.v[k + 1] === null) return c.v[k];
    var part = (time - c.t[k]) / (c.t[k + 1] - c.t[k]);
    return c.v[k] + Math.min(1, Math.max(0, part)) * (c.v[k + 1] - c.v[k]);
  }

  // Pairs to draw, a null where the line is broken.
  function curve(column) {
    var c = points(column), k, list = [];
    if (against < 0) {
      for (k = 0; k < c.t.length; k++) list.push(c.v[k] === null ? null : [c.t[k], c.v[k]]);
      return list;
    }
    var x = points(against), rows = c.rows.concat(x.rows).sort(function (a, b) { return a - b; });
    var i = 0, j = 0;
    for (k = 0; k < rows.length; k++) {
      if (k && rows[k] === rows[k - 1]) continue;
      while (i + 1 < x.rows.length && x.rows[i + 1] <= rows[k]) i++;
      while (j + 1 < c.rows.length && c.rows[j + 1] <= rows[k]) j++;
      list.push([between(x, i, rows[k]), between(c, j, rows[k])]);
    }
    return list;
  }

  function between(c, k, row) {
    if (c.rows[k] === row || k + 1 >= c.rows.length || c.t[k + 1] === c.t[k]) return c.v[k];
    var part = (data.time[row] - c.t[k]) / (c.t[k + 1] - c.t[k]);
    return c.v[k] + part * (c.v[k + 1] - c.v[k]);
  }

  function unit(column) {
    var u = data.columns[column].u;
    return u === "1" ? "" : u;
  }

  function text(value) {
    if (value === null || value === undefined) return "\u2014";
    return String(Number(value.toPrecision(6))).replace("-", "\u2212");
  }

  // --- axes

  function extent() {
    if (against < 0) return [data.time[0], data.time[data.time.length - 1]];
    return grow(points(against).v.filter(function (v) { return v !== null; }));
  }

  function grow(values) {
    var low = Infinity, high = -Infinity;
    values.forEach(function (v) { low = Math.min(low, v); high = Math.max(high, v); });
    if (!(high >= low)) return [0, 1];
    var more = high > low ? 0.05 * (high - low) : Math.abs(high) * 0.1 || 1;
    return [low - more, high + more];
  }

  function ticks(low, high, count) {
    var raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw))), part = raw / power;
    var step = (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power, list = [];
    for (var k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 50; k++)
      list.push(Number((k * step).toPrecision(12)));
    return list;
  }

  // --- panels

  function group() {
    var units = [], list = [];
    chosen.forEach(function (column) {
      var at = units.indexOf(unit(column));
      if (at < 0) { at = units.length; units.push(unit(column)); list.push({ unit: unit(column), columns: [] }); }
      list[at].columns.push(column);
    });
    return list;
  }

  function build() {
    var area = host.querySelector(".area");
    area.textContent = "";
    panels = group();
    panels.forEach(function (panel) {
      panel.key = document.createElement("div");
      panel.key.className = "key";
      panel.columns.forEach(function (column, k) {
        var entry = document.createElement("span");
        entry.style.setProperty("--c", colour(k));
        if (k >= colours) entry.className = "dashed";
        entry.textContent = data.columns[column].n;
        entry.appendChild(document.createElement("em"));
        panel.key.appendChild(entry);
      });
      panel.canvas = document.createElement("canvas");
      panel.canvas.tabIndex = 0;
      panel.canvas.setAttribute("role", "img");
      panel.canvas.setAttribute("aria-label", panel.columns.map(function (c) { return data.columns[c].n; }).join(", "));
      area.appendChild(panel.key);
      area.appendChild(panel.canvas);
      panel.curves = panel.columns.map(curve);
      panel.events = jumps(panel);
      listen(panel);
    });
    if (!panels.length) area.textContent = "Choose variables from the list.";
    draw();
  }

  function heightRange(panel) {
    var seen = [];
    panel.curves.forEach(function (list) {
      for (var k = 0; k < list.length; k++) {
        var p = list[k], next = list[k + 1] || p;
        if (!p || p[1] === null) continue;
        if (p[0] >= view[0] && p[0] <= view[1]) seen.push(p[1]);
        // Lines that cross the edges of the view.
        [view[0], view[1]].forEach(function (edge) {
          if (p[0] < edge && next[0] > edge) seen.push(p[1] + (edge - p[0]) / (next[0] - p[0]) * (next[1] - p[1]));
        });
      }
    });
    if (!logarithmic) return grow(seen);
    seen = seen.filter(function (v) { return v > 0; }).map(Math.log10);
    return grow(seen).map(function (v) { return Math.pow(10, v); });
  }

  // Of a logarithmic axis: powers of ten, and what is between them when there are few.
  function logTicks(low, high, count) {
    var from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9), step = Math.ceil((to - from + 1) / count), list = [];
    if (to - from < 2)
      for (var d = from - 1; d <= to; d++)
        [1, 2, 5].forEach(function (m) { var v = m * Math.pow(10, d); if (v >= low && v <= high) list.push(Number(v.toPrecision(12))); });
    else for (var k = from; k <= to; k += step) list.push(Math.pow(10, k));
    return list;
  }

  // The instants at which a drawn variable of the panel jumps.
  function jumps(panel) {
    var found = {};
    if (against >= 0) return [];
    panel.columns.forEach(function (column) {
      var c = points(column);
      var all = grow(c.v.filter(function (v) { return v !== null; })), least = 3e-5 * (all[1] - all[0]);
      for (var k = 1; k < c.t.length; k++)
        if (c.t[k] === c.t[k - 1] && Math.abs(c.v[k] - c.v[k - 1]) > least) found[c.t[k]] = c.t[k];
    });
    return Object.keys(found).map(function (key) { return found[key]; });
  }

  function draw() {
    view = view || extent();
    panels.forEach(function (panel, index) { paint(panel, index === panels.length - 1); });
    host.dataset.view = view.join(" ");
    readout();
  }

  function frame(g, panel, width, height, last) {
    var x = panel.x, y = panel.y;
    g.font = "12px Helvetica, Arial, sans-serif";
    g.fillStyle = paint_of("soft");
    g.strokeStyle = paint_of("grid");
    g.lineWidth = 1;
    g.textAlign = "center";
    g.textBaseline = "top";
    ticks(view[0], view[1], Math.max(2, width / 110)).forEach(function (t) {
      g.beginPath(); g.moveTo(x(t), margin.top); g.lineTo(x(t), height - margin.bottom); g.stroke();
      g.fillText(text(t), x(t), height - margin.bottom + 6);
    });
    g.textAlign = "right";
    g.textBaseline = "middle";
    (logarithmic ? logTicks : ticks)(panel.range[0], panel.range[1], Math.max(2, height / 45)).forEach(function (v) {
      g.beginPath(); g.moveTo(margin.left, y(v)); g.lineTo(width - margin.right, y(v)); g.stroke();
      g.fillText(text(v), margin.left - 7, y(v));
    });
    g.strokeStyle = paint_of("event");
    g.setLineDash([2, 3]);
    if (panel.events.length <= mostEvents)
      panel.events.forEach(function (t) {
        if (t < view[0] || t > view[1]) return;
        g.beginPath(); g.moveTo(x(t), margin.top); g.lineTo(x(t), height - margin.bottom); g.stroke();
      });
    g.setLineDash([]);
    g.strokeStyle = paint_of("frame");
    g.strokeRect(margin.left, margin.top, width - margin.left - margin.right, height - margin.top - margin.bottom);
    g.save();
    g.translate(13, (height - margin.bottom) / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = "center";
    g.fillText(panel.unit ? "[" + panel.unit + "]" : "", 0, 0);
    g.restore();
    if (last) {
      g.textAlign = "center";
      g.textBaseline = "top";
      g.fillText(against < 0 ? "time [s]" : data.columns[against].n + (unit(against) ? " [" + unit(against) + "]" : ""),
        (margin.left + width - margin.right) / 2, height - margin.bottom + 24);
    }
  }

  function paint(panel, last) {
    var canvas = panel.canvas, width = canvas.clientWidth, height = panels.length > 2 ? 200 : 280, ratio = window.devicePixelRatio || 1;
    margin.bottom = last ? 44 : 24; // the name of the horizontal axis stands below the last panel
    height += last ? 20 : 0;
    canvas.style.height = height + "px";
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    var g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    panel.range = heightRange(panel);
    panel.x = function (t) { return margin.left + (t - view[0]) / (view[1] - view[0]) * (width - margin.left - margin.right); };
    var scale = logarithmic ? Math.log10 : function (v) { return v; }, low = scale(panel.range[0]), high = scale(panel.range[1]);
    var bottom = margin.bottom;
    panel.y = function (v) { return height - bottom - (scale(v) - low) / (high - low) * (height - margin.top - bottom); };
    panel.time = function (x) { return view[0] + (x - margin.left) / (width - margin.left - margin.right) * (view[1] - view[0]); };
    frame(g, panel, width, height, last);
    g.save();
    g.beginPath();
    g.rect(margin.left, margin.top, width - margin.left - margin.right, height - margin.top - margin.bottom);
    g.clip();
    panel.curves.forEach(function (list, k) {
      var down = false;
      g.beginPath();
      g.strokeStyle = g.fillStyle = paint_of("c" + k % colours);
      g.setLineDash(dashes[Math.floor(k / colours) % dashes.length]);
      g.lineWidth = 1.7;
      g.lineJoin = "round";
      list.forEach(function (p) {
        if (!p || p[1] === null || p[0] === null || (logarithmic && !(p[1] > 0))) { down = false; return; }
        if (down) g.lineTo(panel.x(p[0]), panel.y(p[1])); else g.moveTo(panel.x(p[0]), panel.y(p[1]));
        down = true;
      });
      g.stroke();
      g.setLineDash([]);
      if (list.length === 1 && list[0]) { g.beginPath(); g.arc(panel.x(list[0][0]), panel.y(list[0][1]), 3, 0, 2 * Math.PI); g.fill(); }
    });
    if (pointer !== null) cursor(g, panel, height);
    if (drag && drag.zoom && drag.to !== undefined) {
      g.fillStyle = paint_of("select");
      g.fillRect(panel.x(drag.from), margin.top, panel.x(drag.to) - panel.x(drag.from), height - margin.top - margin.bottom);
    }
    g.restore();
  }

  function cursor(g, panel, height) {
    g.strokeStyle = paint_of("frame");
    g.lineWidth = 1;
    if (against < 0) { g.beginPath(); g.moveTo(panel.x(pointer), margin.top); g.lineTo(panel.x(pointer), height - margin.bottom); g.stroke(); }
    panel.columns.forEach(function (column, k) {
      var p = against < 0 ? [pointer, valueAt(column, pointer)] : near && near.panel === panel && near.k === k ? near.point : null;
      if (!p || p[1] === null) return;
      g.fillStyle = paint_of("c" + k % colours);
      g.beginPath(); g.arc(panel.x(p[0]), panel.y(p[1]), 3.5, 0, 2 * Math.PI); g.fill();
    });
  }

  // Against another variable: the point of a curve that is nearest to the pointer, in pixels.
  var near = null;
  function nearest(panel, x, y) {
    var best = 900;
    near = null;
    panel.curves.forEach(function (list, k) {
      list.forEach(function (p) {
        if (!p || p[0] === null || p[1] === null) return;
        var dx = panel.x(p[0]) - x, dy = panel.y(p[1]) - y;
        if (dx * dx + dy * dy < best) { best = dx * dx + dy * dy; near = { panel: panel, k: k, point: p }; }
      });
    });
  }

  function reading(panel, column, k) {
    var suffix = panel.unit ? " " + panel.unit : "";
    if (pointer !== null && against < 0) return text(valueAt(column, pointer)) + suffix;
    if (near && near.panel === panel && near.k === k) return text(near.point[1]) + suffix;
    return panel.unit ? "[" + panel.unit + "]" : "";
  }

  function readout() {
    panels.forEach(function (panel) {
      panel.columns.forEach(function (column, k) {
        panel.key.children[k].querySelector("em").textContent = reading(panel, column, k);
      });
    });
    host.querySelector(".where").textContent = pointer !== null && against < 0 ? "time " + text(pointer) + " s"
      : against >= 0 && near ? data.columns[against].n + " = " + text(near.point[0]) + (unit(against) ? " " + unit(against) : "") : hint;
  }

  function zoom(low, high) {
    var all = extent(), least = (all[1] - all[0]) * 1e-7;
    low = Math.max(all[0], low);
    high = Math.min(all[1], high);
    if (high - low >= least) view = [low, high];
  }

  // A picture beside the plots (motion.js) moves the cursor, and goes to the time that is clicked.
  host.addEventListener("cursor", function (event) {
    if (drag || against >= 0 || host.matches(":hover")) return;
    pointer = event.detail;
    if (pointer < view[0] || pointer > view[1]) view = null;
    draw();
  });
  function seek() { if (pointer !== null && against < 0) host.dispatchEvent(new CustomEvent("seek", { detail: pointer })); }

  function listen(panel) {
    var canvas = panel.canvas;
    function at(event) { return panel.time(event.clientX - canvas.getBoundingClientRect().left); }

    function key(event) {
      var width = view[1] - view[0], all = extent(), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      var middle = pointer !== null ? pointer : (view[0] + view[1]) / 2;
      if (step && event.shiftKey) {
        var shift = Math.min(all[1] - view[1], Math.max(all[0] - view[0], step * width / 10));
        view = [view[0] + shift, view[1] + shift];
      } else if (step) pointer = Math.min(view[1], Math.max(view[0], middle + step * width / 100));
      else if (event.key === "Home") pointer = view[0];
      else if (event.key === "End") pointer = view[1];
      else if (event.key === "+" || event.key === "=") zoom(middle - (middle - view[0]) / 2, middle + (view[1] - middle) / 2);
      else if (event.key === "-") zoom(middle - (middle - view[0]) * 2, middle + (view[1] - middle) * 2);
      else if (event.key === "0") view = null;
      else if (event.key === "Escape") pointer = null;
      else return;
      event.preventDefault();
      draw();
    }

    canvas.addEventListener("keydown", key);
    canvas.addEventListener("pointerdown", function (event) {
      drag = { from: at(event), zoom: !event.shiftKey };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", function (event) {
      var time = at(event);
      pointer = Math.min(view[1], Math.max(view[0], time));
      if (against >= 0) {
        var box = canvas.getBoundingClientRect();
        nearest(panel, event.clientX - box.left, event.clientY - box.top);
      }
      if (drag && drag.zoom) drag.to = pointer;
      if (drag && !drag.zoom) {
        var all = extent(), shift = Math.min(all[1] - view[1], Math.max(all[0] - view[0], drag.from - time));
        view = [view[0] + shift, view[1] + shift];
      }
      draw();
    });
    canvas.addEventListener("pointerup", function () {
      if (drag && drag.zoom && drag.to !== undefined && Math.abs(panel.x(drag.to) - panel.x(drag.from)) > 5)
        zoom(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
      else if (drag && drag.zoom) seek();
      drag = null;
      draw();
    });
    canvas.addEventListener("pointerleave", function () { if (!drag) { pointer = near = null; draw(); } });
    canvas.addEventListener("dblclick", function () { view = null; draw(); });
    canvas.addEventListener("wheel", function (event) {
      if (!event.ctrlKey) return; // the page scrolls
      var time = at(event), factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.002)));
      event.preventDefault();
      zoom(time - (time - view[0]) * factor, time + (view[1] - time) * factor);
      draw();
    }, { passive: false });
  }

  // --- the list of variables

  function owner(name) {
    var inner = name.replace(/^(der\()+/, "").replace(/\)+$/, ""), dot = inner.lastIndexOf(".");
    return dot < 0 ? "" : inner.slice(0, dot);
  }

  function list(filter) {
    var place = host.querySelector(".list"), words = filter.toLowerCase().split(/\s+/), last = null, shown = 0;
    place.textContent = "";
    order.forEach(function (column) {
      var c = data.columns[column], low = c.n.toLowerCase();
      if (shown > 400 || !words.every(function (w) { return low.indexOf(w) >= 0; })) return;
      if (owner(c.n) !== last) {
        last = owner(c.n);
        var head = document.createElement("b");
        head.textContent = last;
        if (last) place.appendChild(head);
      }
      var label = document.createElement("label"), box = document.createElement("input"), u = document.createElement("i");
      box.type = "checkbox";
      box.checked = chosen.indexOf(column) >= 0;
      box.addEventListener("change", function () {
        if (box.checked) chosen.push(column); else chosen.splice(chosen.indexOf(column), 1);
        build();
      });
      u.textContent = unit(column) ? " " + unit(column) : "";
      label.appendChild(box);
      label.appendChild(document.createTextNode(" " + c.n));
      label.appendChild(u);
      place.appendChild(label);
      shown++;
    });
    if (shown > 400) place.appendChild(document.createTextNode("\u2026 and more: filter by name"));
  }

  function axis() {
    var select = host.querySelector("select");
    select.appendChild(new Option("against time", "-1"));
    order.forEach(function (column) { select.appendChild(new Option("against " + data.columns[column].n, column)); });
    select.value = String(against);
    select.addEventListener("change", function () {
      against = Number(select.value);
      view = null;
      pointer = near = null;
      build();
    });
  }

  var order = data.columns.map(function (c, k) { return k; });
  order.sort(function (a, b) {
    var p = owner(data.columns[a].n), q = owner(data.columns[b].n);
    return p < q ? -1 : p > q ? 1 : a - b;
  });
  host.innerHTML = "<aside><input type=search placeholder='filter variables' aria-label='filter variables'><div class=list></div></aside>"
    + "<div><div class=bar><select aria-label='horizontal axis'></select><button type=button>All</button>"
    + "<label><input type=checkbox class=log> log</label><span class=where></span></div><div class=area></div></div>";
  host.querySelector("select").style.cssText = "width: 240px; margin: 0";
  data.columns.forEach(function (c, k) { if (c.n === start.against) against = k; });
  start.variables.forEach(function (name) {
    data.columns.forEach(function (c, k) { if (c.n === name) chosen.push(k); });
  });
  list("");
  axis();
  host.querySelector("input").addEventListener("input", function (event) { list(event.target.value); });
  host.querySelector("button").addEventListener("click", function () { view = null; draw(); });
  host.querySelector(".log").checked = logarithmic;
  host.querySelector(".log").addEventListener("change", function (event) { logarithmic = event.target.checked; draw(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", draw);
  build();
  host.dataset.drawn = panels.length;
})();
