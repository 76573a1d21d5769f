// unfold.js: data and drawings of a large page, which the page has compressed (as a file .lzma, in base 64; frontend/page/page.c), become what they were. It
// runs first; what comes after it reads them as ever. By hand, because browsers have no such decoder, and what they have for others gives its result later.
(function () {
  "use strict";

  // All odds (of a zero, in parts of 2048) stand in one array; here is where those of each kind begin.
  var MATCH = 0, REPEAT = 12, LATER = 24, LONG = 36, LATER_1 = 48, LATER_2 = 60, SLOT = 72, FOOTER = 328, ALIGN = 444, MATCHES = 460, REPEATS = 734, LITERAL = 1008;

  // The length is known outside: where it is reached, what is left tells the end.
  function unfold(input, length) {
    var odds = new Uint16Array(LITERAL + 8 * 0x300).fill(1024), range = 4294967295, code = 0, at = 13;
    var output = new Uint8Array(length), state = 0, written = 0, distances = [0, 0, 0, 0]; // less one, the last one first

    function next() {
      range *= 256;
      code = code * 256 + input[at++];
    }
    at++; // a zero
    for (var k = 0; k < 4; k++) code = code * 256 + input[at++];

    function bit(place) {
      var bound = (range >>> 11) * odds[place], one = code >= bound;
      if (one) {
        range -= bound;
        code -= bound;
        odds[place] -= odds[place] >> 5;
      } else {
        range = bound;
        odds[place] += (2048 - odds[place]) >> 5;
      }
      if (range < 16777216) next();
      return one ? 1 : 0;
    }

    function tree(place, bits) {
      for (var node = 1, k = 0; k < bits; k++) node = node << 1 | bit(place + node);
      return node - (1 << bits);
    }

    function reversed(place, bits) {
      for (var node = 1, value = 0, k = 0; k < bits; k++) {
        var one = bit(place + node);
        node = node << 1 | one;
        value |= one << k;
      }
      return value;
    }

    function even(bits) {
      for (var value = 0; bits > 0; bits--) {
        range = Math.floor(range / 2);
        value *= 2;
        if (code >= range) {
          code -= range;
          value++;
        }
        if (range < 16777216) next();
      }
      return value;
    }

    function lengthAt(place) {
      if (!bit(place)) return 2 + tree(place + 2, 3);
      return bit(place + 1) ? 18 + tree(place + 18, 8) : 10 + tree(place + 10, 3);
    }

    function distance(length) {
      var slot = tree(SLOT + 64 * Math.min(length - 2, 3), 6), bits = (slot >> 1) - 1;
      if (slot < 4) return slot;
      var base = (2 + slot % 2) * Math.pow(2, bits);
      return base + (slot < 14 ? reversed(FOOTER + base - slot, bits) : 16 * even(bits - 4) + reversed(ALIGN, 4));
    }

    function literal() {
      var place = LITERAL + 0x300 * (written ? output[written - 1] >> 5 : 0), node = 1;
      for (var alike = state >= 7, other = alike ? output[written - distances[0] - 1] : 0; alike && node < 256; other <<= 1) {
        var shown = other >> 7 & 1;
        node = node << 1 | bit(place + (1 + shown) * 256 + node);
        alike = node % 2 === shown;
      }
      while (node < 256) node = node << 1 | bit(place + node);
      output[written++] = node;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    }

    function copy(length) {
      for (var from = written - distances[0] - 1; length > 0; length--) output[written++] = output[from++];
    }

    function repeat() {
      var which = bit(LATER + state) && 1 + (bit(LATER_1 + state) && 1 + bit(LATER_2 + state));
      if (!which && !bit(LONG + state)) {
        copy(1);
        state = state < 7 ? 9 : 11;
        return;
      }
      distances.unshift(distances.splice(which, 1)[0]);
      copy(lengthAt(REPEATS));
      state = state < 7 ? 8 : 11;
    }

    while (written < length) {
      if (!bit(MATCH + state)) literal();
      else if (bit(REPEAT + state)) repeat();
      else {
        var long = lengthAt(MATCHES);
        distances.unshift(distance(long));
        distances.pop();
        copy(long);
        state = state < 7 ? 7 : 10;
      }
    }
    return output;
  }

  var folded = document.getElementById("folded"), text = atob(folded.textContent), bytes = new Uint8Array(text.length), at = 0;
  for (var k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  var scripts = document.querySelectorAll("script[data-folded]"), all = 0;
  scripts.forEach(function (script) { all += Number(script.dataset.folded); });
  bytes = unfold(bytes, all);
  folded.remove();
  scripts.forEach(function (script) {
    var length = Number(script.dataset.folded), text = new TextDecoder().decode(bytes.subarray(at, at + length));
    at += length;
    script.removeAttribute("data-folded");
    if (script.type === "text/html") script.outerHTML = text;
    else script.textContent = text;
  });
})();
