// links.js: what belongs together in a report lights up together: source lines, equations, nodes and bonds of the drawing,
// blocks. A click keeps the marks and shows the counterparts. By keys: each of these lists is one stop of the Tab key, arrows go
// through it, Enter is a click, Escape lets go. Equations that are too wide are broken before a sign.
(function () {
  "use strict";
  var keys = ["equation", "node", "line", "block"], index = {}, marked = [], kept = null;
  keys.forEach(function (key) { index[key] = {}; });

  // --- the drawing: Graphviz names nodes and bonds by numbers of the model's nodes

  function numbers(title) {
    return (title.match(/[a-z_]+\d+/g) || []).map(function (word) { return word.replace(/\D/g, ""); });
  }

  document.querySelectorAll(".drawing g.node, .drawing g.edge, .drawing g.cluster").forEach(function (part) {
    var title = part.querySelector("title"), found = title ? numbers(title.textContent) : [];
    if (!found.length || /^cluster_c/.test(title.textContent)) return;
    if (!part.classList.contains("edge")) part.dataset.node = found[0];
    part.dataset.ends = found.join(" ");
    title.remove();
  });
  document.querySelectorAll(".drawing a").forEach(function (a) { a.removeAttribute("xlink:title"); });

  // --- marks

  document.querySelectorAll("[data-equation], [data-node], [data-line], [data-block]").forEach(function (element) {
    keys.forEach(function (key) {
      var value = element.dataset[key];
      if (value !== undefined) (index[key][value] = index[key][value] || []).push(element);
    });
  });

  function add(set, key, value) {
    (value === undefined ? [] : index[key][value] || []).forEach(function (element) { set.add(element); });
  }

  function isHead(element) { return element.tagName === "H3" || !!element.closest(".drawing"); }

  // An equation: itself in both lists, its line, the head and the drawing of its node, the number of its block.
  function ofEquation(set, element) {
    var line = element.dataset.line, node = element.dataset.node;
    add(set, "equation", element.dataset.equation);
    (index.line[line] || []).forEach(function (e) { if (e.tagName === "LI") set.add(e); });
    (index.node[node] || []).forEach(function (e) {
      if (!isHead(e)) return;
      set.add(e);
      (e.tagName === "H3" && index.line[e.dataset.line] || []).forEach(function (l) { if (l.tagName === "LI") set.add(l); });
    });
    (index.block[element.dataset.block] || []).forEach(function (e) { if (e.classList.contains("block")) set.add(e); });
  }

  function ofNode(set, node) {
    (index.node[node] || []).forEach(function (e) {
      set.add(e);
      (index.line[e.dataset.line] || []).forEach(function (l) { if (l.tagName === "LI" && isHead(e)) set.add(l); });
    });
    document.querySelectorAll(".drawing g.edge").forEach(function (e) {
      if (e.dataset.ends && e.dataset.ends.split(" ").indexOf(String(node)) >= 0) set.add(e);
    });
  }

  function related(element) {
    var set = new Set([element]);
    if (element.dataset.equation !== undefined) ofEquation(set, element);
    else if (element.dataset.ends !== undefined) element.dataset.ends.split(" ").forEach(function (node) { ofEnds(set, element, node); });
    else if (element.dataset.node !== undefined) ofNode(set, element.dataset.node);
    else if (element.dataset.block !== undefined)
      element.querySelectorAll("[data-equation]").forEach(function (e) { ofEquation(set, e); });
    else if (element.dataset.line !== undefined)
      (index.line[element.dataset.line] || []).forEach(function (e) {
        set.add(e);
        if (e.tagName === "H3") ofNode(set, e.dataset.node);
        else if (e.dataset.equation !== undefined) ofEquation(set, e);
      });
    return set;
  }

  // A bond marks what it joins, a node of the drawing also its bonds.
  function ofEnds(set, element, node) {
    if (element.classList.contains("edge")) (index.node[node] || []).forEach(function (e) { set.add(e); });
    else ofNode(set, node);
  }

  function mark(element) {
    marked.forEach(function (e) { e.classList.remove("on"); });
    marked = element ? Array.from(related(element)) : [];
    marked.forEach(function (e) { e.classList.add("on"); });
  }

  function target(event) {
    return event.target.closest && event.target.closest("[data-equation], [data-ends], [data-node], [data-line], [data-block]");
  }

  // --- files

  function show(file) {
    document.querySelectorAll("ol.source").forEach(function (list) { list.hidden = list.dataset.file !== file; });
    document.querySelectorAll(".tabs button").forEach(function (b) { b.classList.toggle("chosen", b.dataset.file === file); });
  }

  function reveal(element) {
    var box = element.closest(".files, .blocks, .drawing");
    if (box) {
      var e = element.getBoundingClientRect(), b = box.getBoundingClientRect();
      if (e.top < b.top || e.bottom > b.bottom) box.scrollTop += e.top - b.top - box.clientHeight / 2;
    } else element.scrollIntoView({ block: "nearest" });
  }

  // The first counterpart of each kind comes into sight, but for the kind that was clicked.
  function revealAll(clicked) {
    var lines = marked.filter(function (e) { return e.tagName === "LI"; });
    var heads = marked.filter(function (e) { return e.closest("#equations"); });
    var blocks = marked.filter(function (e) { return e.closest(".blocks"); });
    if (!clicked.closest("#source") && lines.length) {
      // The place in the model says more than that in the library.
      var own = lines.filter(function (e) { return /^0:/.test(e.dataset.line); }), line = own[0] || lines[0];
      show(line.closest("ol").dataset.file);
      reveal(line);
    }
    if (!clicked.closest("#equations") && heads.length) reveal(heads[0]);
    if (!clicked.closest(".blocks") && blocks.length) reveal(blocks[0]);
  }

  document.querySelectorAll(".tabs button").forEach(function (b) {
    b.addEventListener("click", function () { show(b.dataset.file); });
  });

  document.addEventListener("mouseover", function (event) {
    if (!kept) mark(target(event));
    symbol(event.target);
  });
  document.addEventListener("click", function (event) {
    var element = target(event);
    if (event.target.closest("summary, button, input, a[href], canvas, select")) return;
    kept = element && element !== kept ? element : null;
    document.body.classList.toggle("fixed", !!kept);
    mark(kept || element);
    if (kept) revealAll(kept);
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    kept = null;
    document.body.classList.remove("fixed");
    mark(null);
  });

  // --- keys

  // Lists whose members the arrow keys go through: one of them at a time can be reached by Tab.
  function rove(members) {
    members = Array.from(members);
    members.forEach(function (element, k) {
      element.tabIndex = k ? -1 : 0;
      element.addEventListener("focus", function () { if (!kept) mark(element); });
      element.addEventListener("keydown", function (event) {
        var step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key], next = step && members[k + step];
        if (event.target !== element) return;
        if (event.key === "Enter" || event.key === " ") element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        else if (!next) return;
        if (next) {
          element.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        }
        event.preventDefault();
      });
    });
  }

  // --- wide equations

  function isSign(element) { return element.tagName === "mo" && /^[+\u2212=]$/.test(element.textContent); }

  // The elements of a sum of the top level, with the signs between them.
  function terms(math) {
    var list = [];
    Array.from(math.children).forEach(function (child) {
      var inner = child.tagName === "mrow" ? Array.from(child.children) : [];
      if (inner.length > 2 && inner.some(isSign)) list = list.concat(terms(child));
      else list.push(child);
    });
    return list;
  }

  function breakUp(math) {
    var formula = document.createElement("span"), part = null, sign = true;
    formula.className = "formula";
    terms(math).forEach(function (element) {
      if (!part || (isSign(element) && !sign)) {
        part = math.cloneNode(false);
        formula.appendChild(part);
        formula.appendChild(document.createTextNode(" "));
      }
      sign = isSign(element);
      if (sign) element.setAttribute("form", "infix"); // so that it keeps its distance at the beginning of a part
      part.appendChild(element);
    });
    math.replaceWith(formula);
  }

  function breakWide() {
    Array.from(document.querySelectorAll(".equation")).filter(function (e) { return e.scrollWidth > e.clientWidth + 1; })
      .forEach(function (e) { Array.from(e.children).forEach(function (m) { if (m.tagName === "math") breakUp(m); }); });
  }

  // --- one variable: all its places, and its full name

  var tip = document.createElement("div"), same = [];
  tip.id = "tip";
  document.body.appendChild(tip);
  var names = document.getElementById("variables");
  names = names ? JSON.parse(names.textContent) : {};

  function symbol(element) {
    var v = element.dataset && element.dataset.v;
    same.forEach(function (e) { e.classList.remove("same"); });
    same = v === undefined ? [] : Array.from(document.querySelectorAll("mi[data-v='" + v + "']"));
    same.forEach(function (e) { e.classList.add("same"); });
    tip.style.display = v !== undefined && names[v] ? "block" : "none";
    if (v === undefined || !names[v]) return;
    var box = element.getBoundingClientRect();
    tip.textContent = names[v];
    tip.style.left = Math.min(box.left, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = box.bottom + 8 + "px";
  }

  // --- the incidence

  function colourOf(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

  function paintIncidence(canvas, data, cell) {
    var ratio = window.devicePixelRatio || 1, size = data.rows.length * cell + 2, g = canvas.getContext("2d");
    canvas.width = canvas.height = size * ratio;
    canvas.style.width = canvas.style.height = size + "px";
    g.scale(ratio, ratio);
    g.strokeStyle = colourOf("line");
    g.strokeRect(0.5, 0.5, size - 1, size - 1);
    g.lineWidth = cell > 4 ? 1.5 : 1;
    g.fillStyle = colourOf("block");
    g.strokeStyle = colourOf("block-line");
    for (var b = 0; b + 1 < data.starts.length; b++) {
      var from = 1 + data.starts[b] * cell, side = (data.starts[b + 1] - data.starts[b]) * cell;
      if (side <= cell) continue;
      g.fillRect(from, from, side, side);
      g.strokeRect(from, from, side, side);
    }
    var gap = cell > 5 ? 1 : 0, diagonal = colourOf("accent"), other = colourOf("soft");
    data.rows.forEach(function (row, i) {
      row.forEach(function (j) {
        g.fillStyle = i === j ? diagonal : other;
        g.fillRect(1 + j * cell + gap, 1 + i * cell + gap, cell - 2 * gap, cell - 2 * gap);
      });
    });
  }

  function incidence() {
    var canvas = document.getElementById("incidence"), source = document.getElementById("incidence-data");
    if (!canvas || !source) return;
    var data = JSON.parse(source.textContent), n = data.rows.length;
    var cell = Math.max(1, Math.min(16, Math.floor(Math.min(900, canvas.parentNode.clientWidth) / Math.max(1, n))));
    function draw() { paintIncidence(canvas, data, cell); }
    draw();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    window.addEventListener("beforeprint", draw);
    function at(event) {
      var box = canvas.getBoundingClientRect();
      return [Math.floor((event.clientY - box.top - 1) / cell), Math.floor((event.clientX - box.left - 1) / cell)];
    }
    function equation(row) {
      return (index.equation[data.equations[row]] || []).filter(function (e) { return e.closest(".blocks"); })[0];
    }
    canvas.addEventListener("mousemove", function (event) {
      var p = at(event);
      if (!(p[0] >= 0 && p[0] < n && p[1] >= 0 && p[1] < n)) return;
      if (!kept && equation(p[0])) mark(equation(p[0]));
      tip.textContent = "equation of " + data.names[p[0]] + (data.rows[p[0]].indexOf(p[1]) >= 0 ? " has " : " without ") + data.names[p[1]];
      tip.style.display = "block";
      tip.style.left = event.clientX + 14 + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
    canvas.addEventListener("mouseleave", function () { tip.style.display = "none"; });
    canvas.addEventListener("click", function (event) {
      var element = equation(at(event)[0]);
      if (!element) return;
      kept = element;
      document.body.classList.add("fixed");
      mark(kept);
      reveal(element);
    });
  }

  // --- colours of the language

  function colour(code) {
    var words = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(model|class|package|connector|block|function|type|record|body|element|constraint|memory|partial|extends|parameter|constant|flow|input|output|equation|initial|algorithm|end|connect|annotation|if|then|else|elseif|when|elsewhen|for|loop|in|final|protected|public|inner|outer|replaceable|redeclare|import|within|discrete|energy|coordinate|der|and|or|not|true|false|bond)\b|(\b\d+\.?\d*(?:[eE][-+]?\d+)?)/g;
    var kinds = ["comment", "string", "keyword", "value"], text = code.textContent, last = 0, found;
    if (!words.test(text)) return;
    words.lastIndex = 0;
    code.textContent = "";
    while ((found = words.exec(text))) {
      code.appendChild(document.createTextNode(text.slice(last, found.index)));
      var span = document.createElement("span");
      for (var k = 1; k < 5; k++) if (found[k] !== undefined) span.className = kinds[k - 1];
      span.textContent = found[0];
      code.appendChild(span);
      last = found.index + found[0].length;
    }
    code.appendChild(document.createTextNode(text.slice(last)));
  }

  document.querySelectorAll("ol.source code").forEach(colour);
  document.querySelectorAll("ol.source, .blocks").forEach(function (list) { rove(list.querySelectorAll("li, .equation")); });
  rove(document.querySelectorAll("#equations h3, #equations .equation"));
  rove(document.querySelectorAll(".drawing g.node, .drawing g.edge"));
  breakWide();
  window.addEventListener("resize", breakWide);
  incidence();
  document.body.dataset.linked = marked.length === 0 ? "yes" : "no";
})();
