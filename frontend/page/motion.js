// motion.js: plays the motion of a mechanism in a page, with WebGL 1.
//
// The data is that of frontend/motion/scene.c: solids whose pose (place, quaternion, length) is a number per frame. Every form is a mesh of
// vertices base*(length, w, h) + more*(thickness), so that a bar keeps its round ends, a spring its wire, an arrow its head, however long they are.
// Drag: turn; shift and drag, the right button or two fingers: move; wheel or two fingers: zoom; double click: fit. Keys on the picture: space
// plays; left and right step (with shift ten frames), Home, End; up, down, A, D turn; + and - zoom; F fits; 1, 2, 3, 4 are views; [ and ] speed.
// Page.html#t=1.5 begins, and stays, at that time; &view=front|side|top|free.
(function () {
  "use strict";
  var host = document.getElementById("motion");
  if (!host) return;
  var canvas = document.createElement("canvas");
  var gl = canvas.getContext("webgl", { antialias: true, alpha: false, preserveDrawingBuffer: true });
  if (!gl) { host.textContent = "This browser has no WebGL: the poses below stand still."; return; }
  var scene = JSON.parse(document.getElementById("scene").textContent);
  var frames = scene.time.length, tracks = scene.tracks.map(decode), plots = document.getElementById("plots");
  var X = 0, Q = 3, LENGTH = 7, FIELD = 0.5; // places in a pose; the angle of view
  var palette = [[0.26, 0.52, 0.76], [0.86, 0.46, 0.22], [0.22, 0.62, 0.46], [0.74, 0.46, 0.64], [0.68, 0.56, 0.22], [0.42, 0.68, 0.86],
    [0.58, 0.42, 0.76], [0.50, 0.60, 0.34]];
  var roles = { body: [0.62, 0.65, 0.69], joint: [0.33, 0.37, 0.43], spring: [0.20, 0.55, 0.36], damper: [0.52, 0.55, 0.60], ground: [0.62, 0.64, 0.67], force: [0.85, 0.16, 0.20], reaction: [0.88, 0.50, 0.08] };
  var show = { force: true, reaction: true, joint: true, grid: true, follow: true };
  var state = { time: scene.time[0], playing: false, speed: 1, last: 0, hover: null };
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  // --- numbers

  function decode(track) {
    var value = 0;
    return track.v.map(function (step) { value += step; return track.o + track.s * value; });
  }

  function add(a, b) { return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]; }
  function sub(a, b) { return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]; }
  function mul(a, k) { return [a[0] * k, a[1] * k, a[2] * k]; }
  function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
  function norm(a) { return Math.sqrt(dot(a, a)); }
  function unit(a) { var n = norm(a); return n ? mul(a, 1 / n) : a; }
  function turn(q, v) { // by the quaternion {vector, scalar}
    var u = [q[0], q[1], q[2]], t = mul(cross(u, v), 2);
    return add(add(v, mul(t, q[3])), cross(u, t));
  }

  // Where a time lies: the frame at or before it, and the part of the way to the next.
  function place(time) {
    var low = 0, high = frames - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (scene.time[middle] <= time) low = middle; else high = middle - 1;
    }
    var step = low + 1 < frames ? scene.time[low + 1] - scene.time[low] : 0;
    return { frame: low, part: step > 0 ? Math.min(1, Math.max(0, (time - scene.time[low]) / step)) : 0 };
  }

  function value(track, at) {
    var v = tracks[track];
    if (v.length === 1) return v[0];
    return at.part ? v[at.frame] + at.part * (v[at.frame + 1] - v[at.frame]) : v[at.frame];
  }

  function pose(solid, at) {
    var p = solid.p, q = [value(p[Q], at), value(p[Q + 1], at), value(p[Q + 2], at), value(p[Q + 3], at)];
    var n = Math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) || 1;
    return { x: [value(p[X], at), value(p[X + 1], at), value(p[X + 2], at)], q: q.map(function (c) { return c / n; }), l: value(p[LENGTH], at) };
  }

  function middle(at) { return scene.middle.map(function (track) { return value(track, at); }); }

  // --- meshes: vertices of nine numbers, base, more, normal

  function Builder() { this.at = []; }
  Builder.prototype.triangle = function (a, b, c) { this.at = this.at.concat(a, b, c); };
  Builder.prototype.quad = function (a, b, c, d) { this.triangle(a, b, c); this.triangle(a, c, d); };

  function ring(n, f) { for (var i = 0; i < n; i++) f(2 * Math.PI * i / n, 2 * Math.PI * (i + 1) / n); }

  // A body of revolution about x: rows of [base x, more x, radius], each a cone to the next; `w`: whether radii are part of base or more.
  function lathe(b, rows, n) {
    for (var k = 0; k + 1 < rows.length; k++) {
      var p = rows[k], q = rows[k + 1], rise = p[2] - q[2], run = Math.abs(q[0] - p[0]) + Math.abs(q[1] - p[1]), flat = run < 1e-9;
      ring(n, function (s, t) {
        function vertex(r, a, m) {
          var side = flat ? [rise > 0 ? 1 : -1, 0, 0] : unit([rise / (q[0] - p[0] ? 6 : run), Math.cos(m), Math.sin(m)]);
          if (!flat && !rise) side = [0, Math.cos(a), Math.sin(a)];
          return [r[0], 0, 0, r[1], r[2] * Math.cos(a), r[2] * Math.sin(a)].concat(side);
        }
        b.quad(vertex(p, s, s), vertex(p, t, t), vertex(q, t, t), vertex(q, s, s));
      });
    }
  }

  function box(b, low, high, asMore) {
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]].forEach(function (axes) {
      [low, high].forEach(function (end, k) {
        var normal = [0, 0, 0];
        normal[axes[0]] = k ? 1 : -1;
        function corner(u, v) {
          var p = [0, 0, 0];
          p[axes[0]] = end[axes[0]]; p[axes[1]] = u[axes[1]]; p[axes[2]] = v[axes[2]];
          return (asMore ? [0, 0, 0].concat(p) : p.concat([0, 0, 0])).concat(normal);
        }
        b.quad(corner(low, low), corner(high, low), corner(high, high), corner(low, high));
      });
    });
  }

  // A plate over an outline in x, y, given by f(i) = [base x, more x, more y], of n corners; a hole by g.
  function plate(b, n, f, g) {
    for (var i = 0; i < n; i++) {
      var p = f(i), q = f((i + 1) % n), c = g ? g(i) : [p[0], 0, 0], d = g ? g((i + 1) % n) : [q[0], 0, 0];
      var normal = unit([q[2] - p[2], p[1] - q[1] + p[0] - q[0], 0]);
      [0.5, -0.5].forEach(function (z) {
        function flat(r) { return [r[0], 0, 0, r[1], r[2], z, 0, 0, 2 * z]; }
        b.quad(flat(p), flat(q), flat(d), flat(c));
      });
      wall(p, q, normal);
      if (g) wall(c, d, mul(normal, -1));
    }
    function wall(p, q, normal) {
      function side(r, z) { return [r[0], 0, 0, r[1], r[2], z].concat(normal); }
      b.quad(side(p, -0.5), side(q, -0.5), side(q, 0.5), side(p, 0.5));
    }
  }

  function circle(n, r) { return function (i) { return [0, r * Math.cos(2 * Math.PI * i / n), r * Math.sin(2 * Math.PI * i / n)]; }; }
  function teeth(n, low, high) {
    return function (i) { var r = i % 4 < 2 ? high : low; return [0, r * Math.cos(2 * Math.PI * i / n), r * Math.sin(2 * Math.PI * i / n)]; };
  }

  // A wire of radius r about points f(t) of base, with rays g(t) across it.
  function wire(b, n, r, f) {
    function frame(k) {
      var p = f(k / n), d = unit(sub(f((k + 0.01) / n), f((k - 0.01) / n))), u = unit(cross(d, Math.abs(d[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
      return { p: p, u: u, v: cross(d, u) };
    }
    for (var k = 0; k < n; k++) {
      var one = frame(k), two = frame(k + 1);
      ring(6, function (s, t) {
        function vertex(e, a) { var m = add(mul(e.u, Math.cos(a)), mul(e.v, Math.sin(a))); return e.p.concat(mul(m, r), m); }
        b.quad(vertex(one, s), vertex(one, t), vertex(two, t), vertex(two, s));
      });
    }
  }

  var makers = {
    link: function (b) {
      [0.5, -0.5].forEach(function (z) {
        function v(x, mx, my) { return [x, 0, 0, mx, my, z, 0, 0, 2 * z]; }
        b.quad(v(0, 0, -0.5), v(1, 0, -0.5), v(1, 0, 0.5), v(0, 0, 0.5));
        for (var i = 0; i < 12; i++) {
          var s = Math.PI * (i / 12 - 0.5), t = Math.PI * ((i + 1) / 12 - 0.5);
          b.triangle(v(1, 0, 0), v(1, Math.cos(s) / 2, Math.sin(s) / 2), v(1, Math.cos(t) / 2, Math.sin(t) / 2));
          b.triangle(v(0, 0, 0), v(0, -Math.cos(s) / 2, -Math.sin(s) / 2), v(0, -Math.cos(t) / 2, -Math.sin(t) / 2));
        }
      });
      [1, -1].forEach(function (end) {
        for (var i = 0; i < 12; i++) {
          var s = Math.PI * (i / 12 - 0.5), t = Math.PI * ((i + 1) / 12 - 0.5);
          var w = function (a, z) { return [end > 0 ? 1 : 0, 0, 0, end * Math.cos(a) / 2, end * Math.sin(a) / 2, z, end * Math.cos(a), end * Math.sin(a), 0]; };
          b.quad(w(s, -0.5), w(t, -0.5), w(t, 0.5), w(s, 0.5));
        }
        var e = function (x, z) { return [x, 0, 0, 0, end / 2, z, 0, end, 0]; };
        b.quad(e(0, -0.5), e(1, -0.5), e(1, 0.5), e(0, 0.5));
      });
    },
    box: function (b) { box(b, [0, -0.5, -0.5], [1, 0.5, 0.5]); },
    rod: function (b) { lathe(b, [[0, 0, 0], [0, 0, 0.5], [1, 0, 0.5], [1, 0, 0]], 18); },
    coil: function (b) {
      var turns = 9;
      wire(b, turns * 18, 0.055, function (t) { return [0.08 + 0.84 * t, 0.45 * Math.cos(2 * Math.PI * turns * t), 0.45 * Math.sin(2 * Math.PI * turns * t)]; });
      lathe(b, [[0, 0, 0], [0, 0, 0.2], [0.06, 0, 0.2], [0.06, 0, 0.5], [0.08, 0, 0.5], [0.08, 0, 0]], 16);
      lathe(b, [[0.92, 0, 0], [0.92, 0, 0.5], [0.94, 0, 0.5], [0.94, 0, 0.2], [1, 0, 0.2], [1, 0, 0]], 16);
    },
    strut: function (b) {
      lathe(b, [[0, 0, 0], [0, 0, 0.5], [0.58, 0, 0.5], [0.58, 0, 0]], 18);
      lathe(b, [[0.3, 0, 0], [0.3, 0, 0.22], [1, 0, 0.22], [1, 0, 0]], 14);
    },
    ball: function (b) {
      var n = 10;
      for (var k = 0; k < n; k++) {
        var s = Math.PI * (k / n - 0.5), t = Math.PI * ((k + 1) / n - 0.5);
        ring(20, function (u, v) {
          function p(a, c) { var e = [Math.cos(a) * Math.cos(c), Math.cos(a) * Math.sin(c), Math.sin(a)]; return [0, 0, 0].concat(mul(e, 0.5), e); }
          b.quad(p(s, u), p(s, v), p(t, v), p(t, u));
        });
      }
    },
    pin: function (b) { plate(b, 24, circle(24, 0.5)); },
    block: function (b) { box(b, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]); },
    wheel: function (b) {
      plate(b, 48, circle(48, 0.5), circle(48, 0.41));
      plate(b, 24, circle(24, 0.09));
      [0, 1, 2, 3, 4].forEach(function (k) {
        var a = 2 * Math.PI * k / 5, c = Math.cos(a), s = Math.sin(a), w = k ? 0.022 : 0.04;
        [0.35, -0.35].forEach(function (z) {
          function v(r, y) { return [0, 0, 0, r * c - y * s, r * s + y * c, z, 0, 0, z > 0 ? 1 : -1]; }
          b.quad(v(0.07, -w), v(0.43, -w), v(0.43, w), v(0.07, w));
        });
        [w, -w].forEach(function (y) {
          function v(r, z) { return [0, 0, 0, r * c - y * s, r * s + y * c, z, y > 0 ? -s : s, y > 0 ? c : -c, 0]; }
          b.quad(v(0.07, -0.35), v(0.43, -0.35), v(0.43, 0.35), v(0.07, 0.35));
        });
      });
    },
    gear: function (b) {
      plate(b, 96, teeth(96, 0.47, 0.53), circle(96, 0.38));
      plate(b, 24, circle(24, 0.1));
      [0, 1, 2].forEach(function (k) {
        var a = 2 * Math.PI * k / 3, c = Math.cos(a), s = Math.sin(a), w = k ? 0.035 : 0.06;
        [0.4, -0.4].forEach(function (z) {
          function v(r, y) { return [0, 0, 0, r * c - y * s, r * s + y * c, z, 0, 0, z > 0 ? 1 : -1]; }
          b.quad(v(0.08, -w), v(0.4, -w), v(0.4, w), v(0.08, w));
        });
      });
    },
    ring: function (b) { plate(b, 144, circle(144, 0.58), teeth(144, 0.48, 0.52)); },
    support: function (b) {
      lathe(b, [[0, 0, 0], [0.85, 0, 0.42], [0.85, 0, 0.6], [1, 0, 0.6], [1, 0, 0]], 24);
    },
    plate: function (b) { box(b, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]); },
    rail: function (b) { box(b, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]); },
    arrow: function (b) {
      lathe(b, [[0, 0, 0], [0, 0, 0.5], [1, -3.6, 0.5], [1, -3.6, 0]], 12);
      lathe(b, [[1, -4, 0], [1, -4, 1.4], [1, 0, 0]], 18);
    },
    turn: function (b) {
      var from = 0.3, to = 5;
      wire(b, 30, 0.4, function (t) { var a = from + (to - from) * t; return [Math.cos(a) / 2, Math.sin(a) / 2, 0]; });
      var c = Math.cos(to), s = Math.sin(to);
      ring(14, function (p, q) {
        function v(a) { return [c / 2, s / 2, 0, 1.5 * Math.cos(a) * c, 1.5 * Math.cos(a) * s, 1.5 * Math.sin(a), Math.cos(a) * c, Math.cos(a) * s, Math.sin(a)]; }
        b.triangle(v(p), v(q), [c / 2, s / 2, 0, -4 * s, 4 * c, 0, -s, c, 0]);
      });
    }
  };

  function upload(list) {
    var buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(list), gl.STATIC_DRAW);
    return { buffer: buffer, count: list.length / 9 };
  }

  var meshes = {};
  function mesh(form) {
    if (!meshes[form]) {
      var b = new Builder();
      makers[form](b);
      meshes[form] = upload(b.at);
    }
    return meshes[form];
  }

  // Triangles of a file, with their normals.
  function fileMesh(k) {
    var key = "file" + k, t = scene.meshes[k], list = [];
    if (meshes[key]) return meshes[key];
    for (var i = 0; i + 8 < t.length; i += 9) {
      var a = t.slice(i, i + 3), c = t.slice(i + 3, i + 6), d = t.slice(i + 6, i + 9), n = unit(cross(sub(c, a), sub(d, a)));
      [a, c, d].forEach(function (p) { [0, 0, 0].concat(p, n).forEach(function (x) { list.push(x); }); });
    }
    meshes[key] = upload(list);
    return meshes[key];
  }

  // A road: a band through points, about `origin`.
  function trace(solid) {
    var t = solid.t, side = scene.planar ? [0, 0, 1] : null, wide = (scene.planar ? 1 : 2.2) * scene.unit, thick = 0.25 * scene.unit, list = [], points = [];
    for (var i = 0; i + 2 < t.length; i += 3) points.push([t[i], t[i + 1], t[i + 2]]);
    solid.origin = points[0] || [0, 0, 0];
    for (var k = 0; k + 1 < points.length; k++) {
      var a = sub(points[k], solid.origin), b = sub(points[k + 1], solid.origin), d = unit(sub(b, a)), s = side || unit(cross(scene.up, d)), n = cross(d, s);
      if (dot(n, scene.up) < 0) n = mul(n, -1);
      var l = mul(s, wide), down = mul(n, -thick), quad = function (p, q, r, u, m) {
        [p, q, r, p, r, u].forEach(function (v) { [0, 0, 0].concat(v, m).forEach(function (x) { list.push(x); }); });
      };
      quad(sub(a, l), sub(b, l), add(b, l), add(a, l), n);
      quad(add(add(a, l), down), add(add(b, l), down), add(b, l), add(a, l), s);
      quad(add(sub(a, l), down), add(sub(b, l), down), sub(b, l), sub(a, l), mul(s, -1));
    }
    return upload(list);
  }

  // --- shaders

  function program(vertex, fragment) {
    var made = gl.createProgram();
    [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].forEach(function (part) {
      var shader = gl.createShader(part[0]);
      gl.shaderSource(shader, part[1]);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    });
    ["base", "more", "normal"].forEach(function (name, k) { gl.bindAttribLocation(made, k, name); });
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error("motion: " + gl.getProgramInfoLog(made));
    return made;
  }

  var shade = program(
    "attribute vec3 base, more, normal; uniform vec3 scale, thick, place; uniform vec4 q; uniform mat4 view; varying vec3 n, p;" +
    "vec3 turned(vec3 v) { vec3 t = 2.0*cross(q.xyz, v); return v + q.w*t + cross(q.xyz, t); }" +
    "void main() { n = turned(normal); p = place + turned(base*scale + more*thick); gl_Position = view*vec4(p, 1.0); }",
    "precision mediump float; uniform vec4 colour; uniform vec3 eye, light; uniform float plain, far; varying vec3 n, p;" +
    "void main() { vec3 m = normalize(n), e = normalize(eye - p); if (dot(m, e) < 0.0) m = -m;" +
    "float d = 0.42 + 0.46*max(0.0, dot(m, light)) + 0.16*max(0.0, dot(m, e)); float s = pow(max(0.0, dot(reflect(-light, m), e)), 24.0);" +
    "vec3 c = mix(colour.rgb*d + 0.12*s, colour.rgb, plain); float a = colour.a; if (far > 0.0) a *= clamp(1.6 - length(p)/far, 0.0, 1.0); gl_FragColor = vec4(c, a); }");
  var at = {};
  ["scale", "thick", "place", "q", "view", "colour", "eye", "light", "plain", "far"].forEach(function (name) { at[name] = gl.getUniformLocation(shade, name); });

  // --- the camera

  var up = scene.up, right = unit(scene.planar ? [1, 0, 0] : Math.abs(up[0]) > 0.9 ? cross([0, 0, 1], up) : sub([1, 0, 0], mul(up, up[0])));
  var front = cross(right, up), travels = norm(sub(scene.high, scene.low)) > 3 * scene.size;
  var camera = { yaw: 0, pitch: 0, distance: 1, shift: [0, 0, 0], centre: [0, 0, 0] };
  var views = { front: [0, 0], side: [Math.PI / 2, 0], top: [0, Math.PI / 2 - 1e-3], free: [0.5, 0.42] };

  function basis() {
    var c = Math.cos(camera.pitch), eye = add(add(mul(front, c * Math.cos(camera.yaw)), mul(right, c * Math.sin(camera.yaw))), mul(up, Math.sin(camera.pitch)));
    var x = unit(cross(up, eye));
    return { x: x, y: cross(eye, x), z: eye };
  }

  function follows() { return travels && show.follow; }
  function target(now) { return add(add(follows() ? middle(now) : [0, 0, 0], camera.centre), camera.shift); }

  // The distance from which everything that moves is in sight at all times.
  function fit() {
    var b = basis(), low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], step = Math.max(1, Math.floor(frames / 40));
    for (var f = 0; f < frames; f += step) {
      var now = { frame: f, part: 0 }, origin = follows() ? middle(now) : [0, 0, 0];
      scene.solids.forEach(function (solid) {
        if (solid.f === "trace" || solid.f === "turn" || (travels && (solid.b < 0 || solid.f === "rail"))) return;
        var p = pose(solid, now), end = ["ball", "pin", "wheel", "gear", "ring", "mesh"].indexOf(solid.f) >= 0 ? 0 : p.l;
        var centred = solid.f === "rail" || solid.f === "block" || solid.f === "plate", size = (end ? 0.5 : 1) * Math.max(solid.w, scene.unit) / (end ? 1 : 2);
        [turn(p.q, [centred ? -end / 2 : 0, 0, 0]), turn(p.q, [centred ? end / 2 : end, 0, 0])].forEach(function (e) {
          var v = sub(add(p.x, e), origin);
          [dot(v, b.x), dot(v, b.y), dot(v, b.z)].forEach(function (c, k) { low[k] = Math.min(low[k], c - size); high[k] = Math.max(high[k], c + size); });
        });
      });
    }
    if (!(high[0] >= low[0])) { low = [-1, -1, -1]; high = [1, 1, 1]; }
    camera.shift = [0, 0, 0];
    camera.centre = add(add(mul(b.x, (low[0] + high[0]) / 2), mul(b.y, (low[1] + high[1]) / 2)), mul(b.z, (low[2] + high[2]) / 2));
    var aspect = canvas.width / Math.max(1, canvas.height), half = Math.tan(FIELD / 2);
    camera.distance = Math.max((high[1] - low[1]) / 2 / half, (high[0] - low[0]) / 2 / half / aspect) * 1.12 + (scene.planar ? 0 : (high[2] - low[2]) / 2);
    camera.distance = camera.home = Math.max(camera.distance, 1e-6);
    dirty = true;
  }

  function look(name) {
    if (!views[name]) return;
    camera.yaw = views[name][0];
    camera.pitch = views[name][1];
    fit();
  }

  function matrix(b) {
    var d = camera.distance, near = d / 50, far = d * 12 + 4 * scene.size, f = 1 / Math.tan(FIELD / 2), aspect = canvas.width / Math.max(1, canvas.height);
    if (scene.planar) { // parallel, so that what lies in layers stays in line
      var s = 1 / (d * Math.tan(FIELD / 2)), flat = [mul(b.x, s / aspect), mul(b.y, s), mul(b.z, -1 / far)];
      return new Float32Array([flat[0][0], flat[1][0], flat[2][0], 0, flat[0][1], flat[1][1], flat[2][1], 0, flat[0][2], flat[1][2], flat[2][2], 0, 0, 0, 0, 1]);
    }
    var k = (far + near) / (near - far), t = 2 * far * near / (near - far), rows = [mul(b.x, f / aspect), mul(b.y, f), mul(b.z, k), mul(b.z, -1)];
    return new Float32Array([rows[0][0], rows[1][0], rows[2][0], rows[3][0], rows[0][1], rows[1][1], rows[2][1], rows[3][1],
      rows[0][2], rows[1][2], rows[2][2], rows[3][2], 0, 0, -k * d + t, d]);
  }

  // --- drawing

  function bind(m) {
    gl.bindBuffer(gl.ARRAY_BUFFER, m.buffer);
    [0, 1, 2].forEach(function (k) { gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 36, 12 * k); });
  }

  function draw_mesh(m, p, origin, scale, thick, mode) {
    var x = sub(p.x, origin);
    bind(m);
    gl.uniform3f(at.place, x[0], x[1], x[2]);
    gl.uniform4f(at.q, p.q[0], p.q[1], p.q[2], p.q[3]);
    gl.uniform3f(at.scale, scale[0], scale[1], scale[2]);
    gl.uniform3f(at.thick, thick[0], thick[1], thick[2]);
    gl.drawArrays(mode === undefined ? gl.TRIANGLES : mode, 0, m.count);
  }

  function visible(solid) { return show[solid.r] !== false; }

  function colour(solid) { return solid.r === "body" && solid.b >= 0 ? palette[solid.b % palette.length] : roles[solid.r]; }

  function draw_solid(solid, now, origin) {
    var p = pose(solid, now), w = solid.w, h = solid.h, l = p.l, m;
    if (solid.f === "trace") {
      solid.mesh = solid.mesh || trace(solid);
      draw_mesh(solid.mesh, { x: solid.origin, q: [0, 0, 0, 1] }, origin, [1, 1, 1], [1, 1, 1]);
      return;
    }
    if (solid.f === "mesh") { draw_mesh(fileMesh(solid.m), p, origin, [1, 1, 1], [1, 1, 1]); return; }
    if (!makers[solid.f]) return;
    m = mesh(solid.f);
    if (solid.f === "arrow") { if (l < 0.02 * scene.size * 0.25) return; w = Math.min(w, l / 5); draw_mesh(m, p, origin, [l, w, w], [w, w, w]); }
    else if (solid.f === "turn") { if (l < 0.02 * scene.size * 0.25) return; draw_mesh(m, p, origin, [l, l, l], [w, w, w]); }
    else if (solid.f === "coil" || solid.f === "rod" || solid.f === "strut" || solid.f === "support" || solid.f === "ball") draw_mesh(m, p, origin, [l, w, w], [w, w, w]);
    else draw_mesh(m, p, origin, [l, w, h], [w, w, h]);
  }

  // Lines of the ground, or of the paper behind a mechanism in a plane; `step` is a round number of metres.
  var grid = null;
  function make_grid() {
    var raw = scene.size / 5, power = Math.pow(10, Math.floor(Math.log10(raw))), part = raw / power, n = 24, list = [];
    grid = { step: (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power };
    for (var k = -n; k <= n; k++)
      [[[k, -n, 0], [k, n, 0]], [[-n, k, 0], [n, k, 0]]].forEach(function (line) {
        line.forEach(function (v) { list = list.concat([0, 0, 0], mul(v, grid.step), [0, 0, 1]); });
      });
    grid.mesh = upload(list);
    var x = scene.planar ? [1, 0, 0] : right, z = scene.planar ? [0, 0, 1] : up, y = cross(z, x);
    grid.q = quaternion(x, y, z);
    grid.x = x; grid.y = y; grid.z = z;
    var corners = [];
    [scene.low, scene.high].forEach(function (a) { [scene.low, scene.high].forEach(function (b) { [scene.low, scene.high].forEach(function (c) { corners.push(dot([a[0], b[1], c[2]], up)); }); }); });
    grid.level = scene.planar ? -2.2 * scene.unit : lowest(Math.min.apply(null, corners));
  }

  // The ground is below wheels and supports, too.
  function lowest(level) {
    scene.solids.forEach(function (solid) {
      if (solid.f === "trace") for (var i = 0; i + 2 < solid.t.length; i += 3) level = Math.min(level, dot(solid.t.slice(i, i + 3), up));
      else if (solid.f === "wheel" || solid.f === "ball" || solid.f === "block")
        for (var f = 0; f < frames; f += Math.max(1, frames >> 4)) {
          var p = pose(solid, { frame: f, part: 0 }), a = dot(turn(p.q, [0, 0, 1]), up);
          level = Math.min(level, dot(p.x, up) - (solid.f === "wheel" ? solid.w / 2 * Math.sqrt(Math.max(0, 1 - a * a)) : Math.max(solid.w, solid.h) / 2));
        }
    });
    return level - 0.002 * scene.size;
  }

  function quaternion(x, y, z) {
    var w = Math.sqrt(Math.max(0, 1 + x[0] + y[1] + z[2])) / 2;
    if (w > 1e-3) return [(y[2] - z[1]) / 4 / w, (z[0] - x[2]) / 4 / w, (x[1] - y[0]) / 4 / w, w];
    var q = [x[0], y[1], z[2]].map(function (d, k) { var all = x[0] + y[1] + z[2]; return Math.sqrt(Math.max(0, 1 + 2 * d - all)) / 2; });
    if (x[1] + y[0] < 0) q[1] = -q[1];
    if (z[0] + x[2] < 0) q[2] = -q[2];
    return q.concat([0]);
  }

  function draw_grid(origin) {
    if (!show.grid) return;
    if (!grid) make_grid();
    var s = grid.step, x = add(add(mul(grid.x, Math.round(dot(origin, grid.x) / s) * s), mul(grid.y, Math.round(dot(origin, grid.y) / s) * s)), mul(grid.z, grid.level));
    var ink = dark.matches ? [0.42, 0.48, 0.55, 0.55] : [0.60, 0.66, 0.73, 0.55];
    gl.uniform4f(at.colour, ink[0], ink[1], ink[2], ink[3]);
    gl.uniform1f(at.plain, 1);
    gl.uniform1f(at.far, 9 * s);
    gl.depthMask(false);
    draw_mesh(grid.mesh, { x: x, q: grid.q }, origin, [1, 1, 1], [1, 1, 1], gl.LINES);
    gl.depthMask(true);
    gl.uniform1f(at.far, 0);
    // The world's axes, where its origin is near.
    var length = 0.045 * camera.home, thick = 0.0035 * camera.home;
    [[[1, 0, 0], [0.80, 0.25, 0.25]], [[0, 1, 0], [0.25, 0.62, 0.25]], [[0, 0, 1], [0.25, 0.40, 0.85]]].forEach(function (axis) {
      var x = axis[0], y = [x[2], x[0], x[1]], z = cross(x, y);
      if (scene.planar && x[2]) return;
      gl.uniform4f(at.colour, axis[1][0], axis[1][1], axis[1][2], 1);
      gl.uniform1f(at.plain, 0.4);
      draw_mesh(mesh("arrow"), { x: mul(scene.planar ? [0, 0, 1] : up, scene.planar ? grid.level : 0), q: quaternion(x, y, z) }, origin, [length, thick, thick], [thick, thick, thick]);
    });
    gl.uniform1f(at.plain, 0);
  }

  function background() {
    var c = getComputedStyle(host).backgroundColor.match(/[\d.]+/g) || [255, 255, 255];
    return [c[0] / 255, c[1] / 255, c[2] / 255];
  }

  function open_frame(width, height) {
    var b = basis(), light = unit(add(add(mul(b.z, 0.75), mul(b.y, 0.7)), mul(b.x, -0.4)));
    gl.viewport(0, 0, width, height);
    gl.useProgram(shade);
    gl.enable(gl.DEPTH_TEST);
    gl.uniformMatrix4fv(at.view, false, matrix(b));
    var eye = mul(b.z, camera.distance);
    gl.uniform3f(at.eye, eye[0], eye[1], eye[2]);
    gl.uniform3f(at.light, light[0], light[1], light[2]);
    gl.uniform1f(at.plain, 0);
    gl.uniform1f(at.far, 0);
  }

  function pale(solid) { return solid.f === "plate"; }

  function draw() {
    var now = place(state.time), origin = target(now), paper = background();
    open_frame(canvas.width, canvas.height);
    gl.clearColor(paper[0], paper[1], paper[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    draw_grid(origin);
    [false, true].forEach(function (second) { // what one may look through comes last
      gl.depthMask(!second);
      scene.solids.forEach(function (solid) {
        if (pale(solid) !== second || !visible(solid)) return;
        var c = colour(solid), lift = state.hover && state.hover.n === solid.n ? 0.28 : dark.matches ? 0.08 : 0;
        gl.uniform1f(at.plain, solid.r === "force" || solid.r === "reaction" ? 0.55 : 0);
        gl.uniform4f(at.colour, c[0] + lift * (1 - c[0]), c[1] + lift * (1 - c[1]), c[2] + lift * (1 - c[2]), second ? 0.3 : 1);
        draw_solid(solid, now, origin);
      });
    });
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    readout();
  }

  // --- what is under the pointer: every solid in a colour of its own, in a picture that is not shown

  var picture = null;
  function pick(x, y) {
    var w = canvas.width, h = canvas.height, pixel = new Uint8Array(4), now = place(state.time), origin = target(now);
    if (!picture || picture.w !== w || picture.h !== h) {
      if (picture) { gl.deleteTexture(picture.texture); gl.deleteRenderbuffer(picture.depth); gl.deleteFramebuffer(picture.frame); }
      picture = { w: w, h: h, texture: gl.createTexture(), depth: gl.createRenderbuffer(), frame: gl.createFramebuffer() };
      gl.bindTexture(gl.TEXTURE_2D, picture.texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, w, h, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      gl.bindRenderbuffer(gl.RENDERBUFFER, picture.depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, w, h);
      gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture.texture, 0);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, picture.depth);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
    open_frame(w, h);
    gl.disable(gl.BLEND);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, y, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform1f(at.plain, 1);
    scene.solids.forEach(function (solid, k) {
      if (!visible(solid)) return;
      gl.uniform4f(at.colour, ((k + 1) & 255) / 255, ((k + 1) >> 8 & 255) / 255, ((k + 1) >> 16) / 255, 1);
      draw_solid(solid, now, origin);
    });
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return scene.solids[pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1] || null;
  }

  // --- the page around it

  function element(tag, parent, attributes, text) {
    var made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    if (text) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  var stage = element("div", host, { "class": "stage" });
  stage.appendChild(canvas);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "the mechanism; space plays, arrow keys step and tilt, A and D turn, F fits");
  var label = element("div", stage, { "class": "label", hidden: "" }), scale = element("div", stage, { "class": "scale" });
  var bar = element("div", host, { "class": "bar" });
  var button = element("button", bar, { type: "button", "class": "go", "aria-label": "play" }, "\u25b6");
  var slider = element("input", bar, { type: "range", min: "0", max: String(Math.max(1, frames * 4)), value: "0", step: "1", "aria-label": "time" });
  var clock = element("output", bar, {});
  var speeds = element("select", bar, { "aria-label": "speed" });
  var more = element("div", host, { "class": "bar" });
  Object.keys(views).forEach(function (name) {
    element("button", more, { type: "button" }, name).addEventListener("click", function () { look(name); });
  });
  element("button", more, { type: "button" }, "fit").addEventListener("click", fit);
  function box_of(key, text) {
    var wrap = element("label", more, {}), input = element("input", wrap, { type: "checkbox" });
    input.checked = show[key];
    wrap.appendChild(document.createTextNode(" " + text));
    input.addEventListener("change", function () { show[key] = input.checked; if (key === "follow") fit(); dirty = true; });
  }
  if (scene.solids.some(function (s) { return s.r === "force"; })) box_of("force", "forces");
  if (scene.solids.some(function (s) { return s.r === "reaction"; })) box_of("reaction", "reactions");
  box_of("joint", "joints");
  box_of("grid", "grid");
  if (travels) box_of("follow", "follow");

  var rates = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000, 10000], span = scene.time[frames - 1] - scene.time[0];
  rates.forEach(function (rate) { element("option", speeds, { value: String(rate) }, rate < 1 ? "1/" + Math.round(1 / rate) + " speed" : rate === 1 ? "real time" : rate + " \u00d7"); });
  rates.forEach(function (rate) { if (Math.abs(Math.log(span / rate / 8)) < Math.abs(Math.log(span / state.speed / 8))) state.speed = rate; });
  if (span >= 1 && span <= 25) state.speed = 1;
  speeds.value = String(state.speed);
  speeds.addEventListener("change", function () { state.speed = Number(speeds.value); });

  function text(v) { return String(Number(v.toPrecision(4))).replace("-", "\u2212"); }

  var told = null;
  function readout() {
    slider.value = String(Math.round((state.time - scene.time[0]) / (span || 1) * Number(slider.max)));
    clock.textContent = "t = " + state.time.toFixed(span < 0.1 ? 5 : span < 1 ? 4 : span < 100 ? 2 : 1) + " s";
    scale.textContent = (show.grid && grid ? "grid " + text(grid.step) + " m" : "") + (show.force && scene.newtons ? (show.grid ? ", " : "") + "longest arrow " + text(scene.newtons) + " N" : "");
    host.dataset.time = String(state.time);
    if (plots && told !== state.time) { told = state.time; plots.dispatchEvent(new CustomEvent("cursor", { detail: state.time })); }
  }

  function seek(time) {
    state.time = Math.min(scene.time[frames - 1], Math.max(scene.time[0], time));
    host.dataset.time = String(state.time);
    dirty = true;
  }

  function play(on) {
    state.playing = on;
    state.last = 0;
    if (on && state.time >= scene.time[frames - 1]) state.time = scene.time[0];
    button.textContent = on ? "\u275a\u275a" : "\u25b6";
    button.setAttribute("aria-label", on ? "pause" : "play");
    dirty = true;
  }

  button.addEventListener("click", function () { play(!state.playing); });
  slider.addEventListener("input", function () { play(false); seek(scene.time[0] + span * Number(slider.value) / Number(slider.max)); });
  if (plots) plots.addEventListener("seek", function (event) { play(false); seek(event.detail); });

  // --- hands

  var pointers = {}, moved = 0, pressed = null;
  function position(event) { var r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; }
  function pan(dx, dy) {
    var b = basis(), k = 2 * camera.distance * Math.tan(FIELD / 2) / Math.max(1, canvas.clientHeight);
    camera.shift = add(camera.shift, add(mul(b.x, -dx * k), mul(b.y, dy * k)));
    dirty = true;
  }
  function orbit(dx, dy) {
    camera.yaw -= dx * 0.008;
    camera.pitch = Math.min(Math.PI / 2 - 1e-3, Math.max(-Math.PI / 2 + 1e-3, camera.pitch + dy * 0.008));
    dirty = true;
  }
  function zoom(factor) { camera.distance = Math.min(200 * scene.size, Math.max(0.01 * scene.size, camera.distance * factor)); dirty = true; }

  function tell(x, y) {
    var ratio = canvas.width / Math.max(1, canvas.clientWidth), found = pick(Math.round(x * ratio), canvas.height - 1 - Math.round(y * ratio));
    if (found !== state.hover) { state.hover = found; dirty = true; }
    label.hidden = !found;
    if (!found) return;
    label.textContent = found.n + (found.n && found.c ? " \u2013 " : "") + found.c;
    label.style.left = Math.min(x + 14, canvas.clientWidth - label.offsetWidth - 6) + "px";
    label.style.top = Math.min(y + 14, canvas.clientHeight - label.offsetHeight - 6) + "px";
  }

  canvas.addEventListener("pointerdown", function (event) {
    pointers[event.pointerId] = position(event);
    pressed = { button: event.button, shift: event.shiftKey };
    moved = 0;
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", function (event) {
    var now = position(event), old = pointers[event.pointerId], ids = Object.keys(pointers);
    if (!old) { if (event.pointerType === "mouse") tell(now[0], now[1]); return; }
    var dx = now[0] - old[0], dy = now[1] - old[1];
    moved += Math.abs(dx) + Math.abs(dy);
    if (ids.length === 2) {
      var other = pointers[ids[0] === String(event.pointerId) ? ids[1] : ids[0]];
      var before = Math.hypot(old[0] - other[0], old[1] - other[1]), after = Math.hypot(now[0] - other[0], now[1] - other[1]);
      if (after > 1) zoom(before / after);
      pan(dx / 2, dy / 2);
    } else if (pressed && (pressed.shift || pressed.button)) pan(dx, dy);
    else orbit(dx, dy);
    pointers[event.pointerId] = now;
  });
  function release(event) {
    if (pointers[event.pointerId] && moved < 4 && event.type === "pointerup") tell.apply(null, position(event));
    delete pointers[event.pointerId];
  }
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", function () { label.hidden = true; if (state.hover) { state.hover = null; dirty = true; } });
  canvas.addEventListener("contextmenu", function (event) { event.preventDefault(); });
  canvas.addEventListener("dblclick", fit);
  canvas.addEventListener("wheel", function (event) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-0.4, Math.min(0.4, event.deltaY * 0.0015))));
  }, { passive: false });

  function step(n) {
    play(false);
    var now = place(state.time), to = now.frame + (n > 0 || !now.part ? n : n + 1);
    seek(scene.time[Math.min(frames - 1, Math.max(0, to))]);
  }

  canvas.addEventListener("keydown", function (event) {
    var n = event.shiftKey ? 10 : 1, names = Object.keys(views), k = rates.indexOf(state.speed);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") play(!state.playing);
    else if (event.key === "ArrowRight") step(n);
    else if (event.key === "ArrowLeft") step(-n);
    else if (event.key === "ArrowUp") orbit(0, 12);
    else if (event.key === "ArrowDown") orbit(0, -12);
    else if (event.key === "a" || event.key === "A") orbit(12, 0);
    else if (event.key === "d" || event.key === "D") orbit(-12, 0);
    else if (event.key === "Home") { play(false); seek(scene.time[0]); }
    else if (event.key === "End") { play(false); seek(scene.time[frames - 1]); }
    else if (event.key === "+" || event.key === "=") zoom(0.85);
    else if (event.key === "-") zoom(1 / 0.85);
    else if (event.key === "f" || event.key === "F") fit();
    else if (event.key >= "1" && event.key <= "4") look(names[event.key - 1]);
    else if (event.key === "[" && k > 0) { state.speed = rates[k - 1]; speeds.value = String(state.speed); }
    else if (event.key === "]" && k + 1 < rates.length) { state.speed = rates[k + 1]; speeds.value = String(state.speed); }
    else return;
    event.preventDefault();
  });

  // --- time

  var dirty = true;
  function tick(stamp) {
    if (state.playing && state.last) {
      state.time += (stamp - state.last) / 1000 * state.speed;
      if (state.time > scene.time[frames - 1]) state.time = span > 0 ? scene.time[0] + (state.time - scene.time[0]) % span : scene.time[0];
      dirty = true;
    }
    state.last = stamp;
    if (dirty) { dirty = false; draw(); }
    window.requestAnimationFrame(tick);
  }

  function resize() {
    var ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width === Math.round(width * ratio) && canvas.height === Math.round(height * ratio)) return;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    dirty = true;
  }

  document.documentElement.classList.add("moving");
  resize();
  window.addEventListener("resize", function () { resize(); fit(); });
  dark.addEventListener("change", function () { dirty = true; });
  canvas.addEventListener("webglcontextlost", function () { document.documentElement.classList.remove("moving"); });
  var wanted = {};
  location.hash.slice(1).split("&").forEach(function (part) { var pair = part.split("="); wanted[pair[0]] = pair[1]; });
  look(views[wanted.view] ? wanted.view : scene.planar ? "front" : "free");
  if (wanted.t !== undefined && isFinite(Number(wanted.t))) seek(Number(wanted.t));
  else if (!document.getElementById("source") && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) play(true);
  draw();
  host.dataset.solids = String(scene.solids.length);
  window.requestAnimationFrame(tick);
})();
