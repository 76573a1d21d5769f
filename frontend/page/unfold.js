// unfold.js: data and drawings of a large page, which the page has compressed (RFC 1951, in base 64), become what they were. It runs first; what comes
// after it reads them as ever. By hand, because what browsers have for it gives its result later, when other scripts have run, and old ones do not have it.
(function () {
  "use strict";
  var LENGTH_BASE = [], LENGTH_BITS = [], FAR_BASE = [], FAR_BITS = [], ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  for (var i = 0, base = 3; i < 28; i++) {
    LENGTH_BITS[i] = i < 8 ? 0 : (i >> 2) - 1;
    LENGTH_BASE[i] = base;
    base += 1 << LENGTH_BITS[i];
  }
  LENGTH_BASE[28] = 258;
  LENGTH_BITS[28] = 0;
  for (i = 0, base = 1; i < 30; i++) {
    FAR_BITS[i] = i < 4 ? 0 : (i >> 1) - 1;
    FAR_BASE[i] = base;
    base += 1 << FAR_BITS[i];
  }

  // Canonical Huffman codes: how many have each length, and the symbols in the order of their codes.
  function codes(lengths) {
    var count = new Uint16Array(16), first = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    lengths.forEach(function (n) { count[n]++; });
    count[0] = 0;
    for (var n = 1; n < 16; n++) first[n] = first[n - 1] + count[n - 1];
    lengths.forEach(function (n, symbol) { if (n) symbols[first[n]++] = symbol; });
    return { count: count, symbols: symbols };
  }

  function inflate(input, length) {
    var output = new Uint8Array(length), at = 0, bit = 0, held = 0, written = 0, last = false;

    function bits(n) {
      while (bit < n) {
        held |= input[at++] << bit;
        bit += 8;
      }
      var value = held & ((1 << n) - 1);
      held >>>= n;
      bit -= n;
      return value;
    }

    function decode(table) {
      var code = 0, first = 0, index = 0;
      for (var n = 1; n < 16; n++) {
        code |= bits(1);
        var count = table.count[n];
        if (code - count < first) return table.symbols[index + (code - first)];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
      }
      throw new Error("a page that is damaged");
    }

    function tables() {
      var n = bits(5) + 257, far = bits(5) + 1, few = bits(4) + 4, lengths = new Array(19).fill(0);
      for (var k = 0; k < few; k++) lengths[ORDER[k]] = bits(3);
      var table = codes(lengths), all = [];
      while (all.length < n + far) {
        var symbol = decode(table), value = 0, times = 1;
        if (symbol < 16) value = symbol;
        else if (symbol === 16) { value = all[all.length - 1]; times = 3 + bits(2); }
        else times = symbol === 17 ? 3 + bits(3) : 11 + bits(7);
        while (times--) all.push(value);
      }
      return { literal: codes(all.slice(0, n)), far: codes(all.slice(n)) };
    }

    function fixed() {
      var lengths = [];
      for (var k = 0; k < 288; k++) lengths.push(k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8);
      return { literal: codes(lengths), far: codes(new Array(30).fill(5)) };
    }

    while (!last) {
      last = bits(1) === 1;
      var kind = bits(2), symbol = 0;
      if (kind === 0) {
        held = bit = 0;
        var size = input[at] | input[at + 1] << 8;
        output.set(input.subarray(at + 4, at + 4 + size), written);
        at += 4 + size;
        written += size;
        continue;
      }
      var table = kind === 1 ? fixed() : tables();
      while ((symbol = decode(table.literal)) !== 256) {
        if (symbol < 256) {
          output[written++] = symbol;
          continue;
        }
        var copy = LENGTH_BASE[symbol - 257] + bits(LENGTH_BITS[symbol - 257]), code = decode(table.far);
        var from = written - FAR_BASE[code] - bits(FAR_BITS[code]);
        while (copy--) output[written++] = output[from++];
      }
    }
    return output;
  }

  document.querySelectorAll("script[data-folded]").forEach(function (script) {
    var text = atob(script.textContent), bytes = new Uint8Array(text.length);
    for (var k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    text = new TextDecoder().decode(inflate(bytes, Number(script.dataset.folded)));
    script.removeAttribute("data-folded");
    if (script.type === "text/html") script.outerHTML = text;
    else script.textContent = text;
  });
})();
