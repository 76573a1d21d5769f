// links.js: what belongs together in a report lights up together: source lines, equations, nodes and bonds of the drawing,
// blocks. A click keeps the marks and shows the counterparts. By keys: each of these lists is one stop of the Tab key, arrows go
// through it, Enter is a click, Escape lets go. Equations that are too wide are broken before a sign, then between factors, and fractions
// are written on a line, choices case by case; what cannot be broken is made smaller. Of a large model, formulas are text until they come into sight, or are the counterparts of what is clicked.
(function () {
  "use strict";
  var keys = ["equation", "node", "line", "block"], index = {}, marked = [], kept = null;
  // Whether an equation is too wide is looked at when it comes into sight: to measure all would lay out the whole page.
  var seen = new IntersectionObserver(function (entries) {
    entries.forEach(function (e) {
      if (!e.isIntersecting) return;
      seen.unobserve(e.target);
      breakWide(e.target);
    });
  }, { rootMargin: "400px" });
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

  // A drawing much wider than its pane lies across the page, above the two others. Its letters do not become smaller than two thirds; what does
  // not fit then is scrolled, and a click on what belongs to a node brings it into sight.
  function layOutDrawing() {
    var box = document.querySelector(".drawing"), svg = box && box.querySelector("svg"), main = document.querySelector("main");
    if (!svg || !svg.viewBox || !svg.viewBox.baseVal) return;
    var wide = svg.viewBox.baseVal.width * 4 / 3, tall = svg.viewBox.baseVal.height * 4 / 3;
    main.classList.toggle("wide", wide > 1.5 * box.clientWidth);
    var room = box.getBoundingClientRect().width - 26, least = Math.min(2 / 3, Math.max(room / wide, 200 / tall));
    svg.style.minWidth = least * wide + "px";
    svg.style.minHeight = least * tall + "px";
    if (svg.getBoundingClientRect().width > 0.8 * wide) return;
    var button = document.createElement("button");
    button.textContent = "full size";
    button.addEventListener("click", function () {
      button.textContent = box.classList.toggle("full") ? "fit to the page" : "full size";
    });
    box.parentNode.appendChild(button);
  }
  layOutDrawing();

  // --- marks

  // Lines that declare what a component is part of.
  function within(element) { return element.dataset.within ? element.dataset.within.split(" ") : []; }

  function enter(root) {
    root.querySelectorAll("[data-equation], [data-node], [data-line], [data-block]").forEach(function (element) {
      keys.forEach(function (key) {
        var value = element.dataset[key];
        if (value !== undefined) (index[key][value] = index[key][value] || []).push(element);
      });
      within(element).forEach(function (line) { (index.line[line] = index.line[line] || []).push(element); });
    });
    root.querySelectorAll(".equation").forEach(function (e) { seen.observe(e); });
  }

  var edges = {}; // by node
  document.querySelectorAll(".drawing g.edge").forEach(function (e) {
    (e.dataset.ends || "").split(" ").forEach(function (node) { (edges[node] = edges[node] || []).push(e); });
  });

  function add(set, key, value) {
    (value === undefined ? [] : index[key][value] || []).forEach(function (element) { set.add(element); });
  }

  // The lines that declare a component whose head this is, and what it is part of.
  function addLines(set, head) {
    [head.dataset.line].concat(within(head)).forEach(function (line) {
      (index.line[line] || []).forEach(function (l) { if (l.tagName === "LI") set.add(l); });
    });
  }

  function isHead(element) { return element.tagName === "H3" || !!element.closest(".drawing"); }

  // An equation: itself in both lists, its line, the head and the drawing of its node with its bonds, the number of its block.
  function ofEquation(set, element) {
    var line = element.dataset.line, node = element.dataset.node;
    add(set, "equation", element.dataset.equation);
    (index.line[line] || []).forEach(function (e) { if (e.tagName === "LI") set.add(e); });
    (index.node[node] || []).forEach(function (e) {
      if (!isHead(e)) return;
      set.add(e);
      if (e.tagName === "H3") addLines(set, e);
    });
    (edges[node] || []).forEach(function (e) { set.add(e); });
    (index.block[element.dataset.block] || []).forEach(function (e) { if (e.classList.contains("block")) set.add(e); });
  }

  // A node: its head, its equations, its drawing, and the line that declares it.
  function ofEnd(set, node) {
    (index.node[node] || []).forEach(function (e) {
      set.add(e);
      if (isHead(e)) addLines(set, e);
    });
  }

  function ofNode(set, node) {
    ofEnd(set, node);
    (edges[node] || []).forEach(function (e) { set.add(e); });
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
    if (element.classList.contains("edge")) ofEnd(set, node);
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

  // --- formulas that are text yet

  var places = document.getElementById("places");
  places = places ? JSON.parse(places.textContent) : [];

  // The text of packed formulas (frontend/page/packed.h).
  var packing = document.getElementById("packing");
  packing = packing ? JSON.parse(packing.textContent) : null;
  function unpack(text) {
    return text.replace(/~(?:(\d+);|(.))/g, function (all, number, letter) {
      return number !== undefined ? unpack(packing.symbols[number - 1]) : letter === "~" ? "~" : packing.pieces[letter];
    });
  }

  // Puts them into the box that holds them, if that has not been done.
  function fill(box) {
    var later = box && box.querySelector("script.later"), parent = later && later.parentNode;
    if (!later) return;
    if (later.previousElementSibling) later.previousElementSibling.remove();
    later.insertAdjacentHTML("beforebegin", unpack(later.textContent));
    later.remove();
    enter(parent);
    if (kept) mark(kept);
  }

  function fillAll() { document.querySelectorAll("script.later").forEach(function (later) { fill(later.parentNode); }); }

  // The counterparts of an element, as many as somebody looks at.
  function fetch(element) {
    var at = element.dataset, nodes = at.ends ? at.ends.split(" ") : at.node === undefined ? [] : [at.node], own = kept;
    // A line: also the components that it declares.
    if (!nodes.length && at.equation === undefined)
      (index.line[at.line] || []).forEach(function (e) { if (e.tagName === "H3") nodes.push(e.dataset.node); });
    var wanted = places.filter(function (p) {
      if (at.equation !== undefined) return String(p[0]) === at.equation;
      return nodes.indexOf(String(p[1])) >= 0 || (at.block !== undefined && String(p[2]) === at.block)
        || (at.line !== undefined && p[3] === at.line);
    });
    kept = null;
    wanted.slice(0, 60).forEach(function (p) {
      fill(document.getElementById("node-" + p[1]));
      fill(document.querySelector(".block[data-block='" + p[2] + "']"));
    });
    kept = own;
  }

  function coming(root) {
    return new IntersectionObserver(function (entries) {
      entries.forEach(function (e) {
        if (!e.isIntersecting) return;
        this.unobserve(e.target);
        fill(e.target.parentNode);
      }, this);
    }, { root: root, rootMargin: "600px" });
  }

  // Blocks of a large model: elements that wait for their formulas.
  function element(parent, tag, name, text) {
    var e = parent.appendChild(document.createElement(tag));
    e.className = name;
    e.textContent = text;
    return e;
  }

  var lines = document.getElementById("block-lines");
  if (lines) lines.textContent.split("\n").forEach(function (line, k) {
    var n = line.indexOf(" "), rows = line.slice(0, n);
    var block = element(lines.parentNode, "div", rows === "1" ? "block" : "block several", "");
    block.dataset.block = k + 1;
    element(block, "span", "number", k + 1);
    var inner = element(block, "div", "", "");
    element(inner, "div", "waiting", "").dataset.rows = rows;
    // No script that could run: its type is there before it is in the page.
    var later = document.createElement("script");
    later.type = "text/plain";
    later.className = "later";
    later.textContent = line.slice(n + 1);
    inner.append(later);
  });
  if (lines) lines.remove();

  var far = coming(null), blocks = document.querySelector(".blocks"), inBlocks = blocks && coming(blocks);
  document.querySelectorAll(".waiting").forEach(function (e) {
    e.style.setProperty("--rows", e.dataset.rows);
    (e.closest(".blocks") ? inBlocks : far).observe(e);
  });
  window.addEventListener("beforeprint", fillAll);

  // --- files

  var coloured = {};

  function show(file) {
    if (!coloured[file]) document.querySelectorAll("ol.source[data-file='" + file + "'] code").forEach(colour);
    coloured[file] = true;
    document.querySelectorAll("ol.source").forEach(function (list) { list.hidden = list.dataset.file !== file; });
    document.querySelectorAll(".tabs button").forEach(function (b) { b.classList.toggle("chosen", b.dataset.file === file); });
  }

  // Into sight inside its pane; where the page has one column, the page scrolls. A head stands above what belongs to it.
  function reveal(element) {
    var box = element.closest(".files, .blocks, .drawing, .formulas"), head = element.tagName === "H3";
    if (!box || getComputedStyle(box).overflowY === "visible") return element.scrollIntoView({ block: head ? "start" : "nearest" });
    var e = element.getBoundingClientRect(), b = box.getBoundingClientRect();
    if (head || e.top < b.top || e.bottom > b.bottom) box.scrollTop += e.top - b.top - (head ? 0 : (box.clientHeight - e.height) / 2);
    // What is wider than its pane is read from its beginning.
    if (e.width > b.width) box.scrollLeft += e.left - b.left;
    else if (e.left < b.left || e.right > b.right) box.scrollLeft += (e.left + e.right - b.left - b.right) / 2;
  }

  // Of what is marked in the list of equations: what was clicked says itself, before what belongs to that.
  function nearest(clicked, list) {
    var at = clicked.dataset, node = at.node || (at.ends || "").split(" ")[0];
    function first(test) { return list.filter(test)[0]; }
    return (at.equation !== undefined && first(function (e) { return e.dataset.equation === at.equation; }))
      || (at.equation === undefined && node && first(function (e) { return e.dataset.node === node; }))
      || (at.line !== undefined && first(function (e) { return e.dataset.line === at.line || within(e).indexOf(at.line) >= 0; }))
      || (at.block !== undefined && first(function (e) { return e.dataset.block === at.block; })) || list[0];
  }

  // The first counterpart of each kind comes into sight, but for the kind that was clicked.
  function revealAll(clicked) {
    var lines = marked.filter(function (e) { return e.tagName === "LI"; });
    var formulas = marked.filter(function (e) { return e.closest("#equations"); });
    var blocks = marked.filter(function (e) { return e.closest(".blocks"); });
    var nodes = marked.filter(function (e) { return e.closest(".drawing") && !e.classList.contains("edge"); });
    if (!clicked.closest("#source") && lines.length) {
      // The place in the model says more than that in the library.
      var own = lines.filter(function (e) { return /^0:/.test(e.dataset.line); }), line = own[0] || lines[0];
      show(line.closest("ol").dataset.file);
      reveal(line);
    }
    if (!clicked.closest(".drawing") && nodes.length) reveal(nearest(clicked, nodes));
    if (!clicked.closest(".blocks") && blocks.length) reveal(blocks[0]);
    if (!clicked.closest("#equations") && formulas.length) {
      reveal(nearest(clicked, formulas));
      // What was clicked outside of the panes: the panes come into sight, too.
      if (!clicked.closest("main")) document.getElementById("equations").scrollIntoView({ block: "nearest" });
    }
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
    if (kept) fetch(kept);
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
  function rove(list, selector) {
    var current = list && list.querySelector(selector);
    if (!current) return;
    current.tabIndex = 0;
    list.addEventListener("mousedown", function (event) {
      var member = event.target.closest(selector);
      if (member && member !== current) member.tabIndex = -1;
    });
    list.addEventListener("focusin", function (event) {
      if (!event.target.matches(selector)) return;
      current.tabIndex = -1;
      current = event.target;
      current.tabIndex = 0;
      if (!kept) mark(current);
    });
    list.addEventListener("keydown", function (event) {
      var step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key], element = event.target;
      if (!element.matches(selector)) return;
      if (event.key === "Enter" || event.key === " ") {
        element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        event.preventDefault();
        return;
      }
      fill(element.parentNode);
      var members = step ? Array.from(list.querySelectorAll(selector)) : [], next = members[members.indexOf(element) + step];
      if (!next) return;
      fill(next.parentNode);
      next.tabIndex = -1;
      next.focus();
      event.preventDefault();
    });
  }

  // --- wide equations

  function isSign(element) { return element.tagName === "mo" && /^[+\u2212=]$/.test(element.textContent); }
  function isTimes(element) { return element.tagName === "mo" && /^[\u00b7\u22c5]$/.test(element.textContent); }

  // The elements of the top level, rows of them that have such an operator being opened.
  function flat(math, isOperator) {
    var list = [];
    Array.from(math.children).forEach(function (child) {
      var inner = child.tagName === "mrow" ? Array.from(child.children) : [];
      if (inner.length > 1 && inner.some(isOperator)) list = list.concat(flat(child, isOperator));
      else list.push(child);
    });
    return list;
  }

  // Parts that begin with a sign, or end with a multiplication.
  function parts(math, isOperator, atEnd) {
    var list = [], part = null, fresh = true;
    flat(math, isOperator).forEach(function (element) {
      var operator = isOperator(element);
      if (!part || (atEnd ? fresh : operator && !fresh)) list.push(part = math.cloneNode(false));
      fresh = operator;
      if (operator) element.setAttribute("form", "infix"); // so that it keeps its distance at the beginning and at the end
      part.appendChild(element);
    });
    return list;
  }

  function breakUp(math) {
    var formula = document.createElement("span");
    formula.className = "formula";
    math.replaceWith(formula);
    parts(math, isSign, false).forEach(function (part) { formula.append(part, " "); });
    breakAgain(formula, caseByCase);
    breakParts(formula);
    formula.querySelectorAll(".formula").forEach(breakParts);
  }

  function breakParts(formula) {
    breakAgain(formula, function (part) { return parts(part, isTimes, true); });
    for (var level = 0; level < 2; level++) { // a fraction in a fraction
      breakAgain(formula, onOneLine);
      breakAgain(formula, function (part) { return parts(part, isTimes, true); });
    }
  }

  // A choice that is all of a part, but for a sign before it, as lines: a condition, and behind it the value, which can be broken.
  function caseByCase(part) {
    var list = flat(part, isSign), row = list.pop(), table = row && Array.from(row.children).filter(function (e) { return e.matches("mtable.cases"); })[0];
    if (!table || row.children.length !== 2 || !list.every(isSign)) return [part];
    var head = part.cloneNode(false), result = [head];
    list.forEach(function (sign) { head.appendChild(sign); });
    Array.from(table.children).forEach(function (line) {
      var block = document.createElement("span"), condition = part.cloneNode(false), value = part.cloneNode(false);
      block.className = "formula case";
      condition.append.apply(condition, Array.from(line.children[1].childNodes));
      condition.appendChild(operator(":", part));
      value.append.apply(value, Array.from(line.children[0].childNodes));
      block.append(condition, " ");
      parts(value, isSign, false).forEach(function (p) { block.append(p, " "); });
      result.push(block);
    });
    return result;
  }

  function operator(text, beside) {
    var mo = document.createElementNS(beside.namespaceURI, "mo");
    mo.textContent = text;
    mo.setAttribute("stretchy", "false");
    return mo;
  }

  // A fraction of the top level as a numerator in parentheses, a stroke and the denominator: what can be broken before a sign.
  function onOneLine(part) {
    flat(part, isTimes).forEach(function (fraction) {
      if (fraction.tagName !== "mfrac" || fraction.children.length !== 2) return;
      var above = Array.from(fraction.children[0].children), below = fraction.children[1], row = fraction.parentNode;
      while (above.length === 1 && above[0].tagName === "mrow") above = Array.from(above[0].children);
      if (!above.some(isSign)) return;
      var compound = Array.from(below.children).some(function (e) { return e.tagName === "mo"; }) || below.querySelector("mrow > mo");
      var sign = function (text) { return operator(text, fraction); };
      [sign("(")].concat(above, sign(")"), sign("/"), compound ? [sign("("), below, sign(")")] : below)
        .forEach(function (e) { row.insertBefore(e, fraction); });
      fraction.remove();
    });
    return parts(part, isSign, false);
  }

  // Breaks a part that is too wide where `cut` finds places.
  function breakAgain(formula, cut) {
    Array.from(formula.children).forEach(function (part) {
      if (part.tagName === "math" && tooWide(part, formula))
        part.replaceWith.apply(part, cut(part).reduce(function (all, p) { return all.concat(p, " "); }, []));
    });
  }

  // Without what stands before all lines but the first, and a little less.
  function room(formula) { return formula.clientWidth - parseFloat(getComputedStyle(formula).paddingLeft) + 2; }
  function tooWide(part, formula) { return part.getBoundingClientRect().width > room(formula); }

  // A fraction, or a choice: small letters can be read, what is cut off cannot.
  function makeSmaller(formula) {
    Array.from(formula.children).forEach(function (part) {
      if (part.tagName !== "math") {
        makeSmaller(part);
        return;
      }
      part.style.fontSize = "";
      if (tooWide(part, formula))
        part.style.fontSize = Math.max(0.6, room(formula) / part.getBoundingClientRect().width) * 1.1 + "em";
    });
  }

  function breakWide(equation) {
    if (equation.scrollWidth > equation.clientWidth + 1)
      Array.from(equation.children).forEach(function (m) { if (m.tagName === "math") breakUp(m); });
    Array.from(equation.children).forEach(function (m) { if (m.className === "formula") makeSmaller(m); });
  }

  window.addEventListener("resize", function () { document.querySelectorAll(".equation").forEach(function (e) { seen.observe(e); }); });
  window.addEventListener("beforeprint", function () { document.querySelectorAll(".equation").forEach(breakWide); });

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
      var row = at(event)[0];
      if (!(row >= 0 && row < n)) return;
      fetch({ dataset: { equation: String(data.equations[row]) } });
      var element = equation(row);
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

  document.querySelectorAll("ol.source > script").forEach(function (script) {
    var list = script.parentNode, lines = JSON.parse(script.textContent).replace(/\n$/, "").split("\n");
    script.remove();
    lines.forEach(function (text, k) {
      var line = document.createElement("li"), code = document.createElement("code");
      line.dataset.line = list.dataset.file + ":" + (k + 1);
      code.textContent = text;
      line.append(code);
      list.append(line);
    });
  });
  enter(document);
  var first = document.querySelector("ol.source");
  if (first) show(first.dataset.file);
  document.querySelectorAll("ol.source").forEach(function (list) { rove(list, "li"); });
  rove(blocks, ".equation");
  rove(document.getElementById("equations"), "h3, .equation");
  rove(document.querySelector(".drawing"), "g.node, g.edge");
  incidence();
  document.body.dataset.linked = marked.length === 0 ? "yes" : "no";
})();
