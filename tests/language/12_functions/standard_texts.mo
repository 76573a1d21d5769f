// 12.9: functions of texts that the standard library declares as external come with mdlc, and are known at compile time.
// expect: n = 5
// expect: i = 3
// expect: order = {1, 2, 3}
// expect: blank = 4
// expect: number = 25
// expect: behind = 8
// expect: same = true
// expect: hash = -357913953
package P
  type Compare = enumeration(Less, Equal, Greater);
  function length
    input String string;
    output Integer result;
    external "C" result = ModelicaStrings_length(string) annotation(Library = "ModelicaExternalC");
  end length;
  function substring
    input String string;
    input Integer first, last;
    output String result;
    external "C" result = ModelicaStrings_substring(string, first, last) annotation(Library = "ModelicaExternalC");
  end substring;
  function compare
    input String a, b;
    input Boolean caseSensitive = true;
    output Compare result;
    external "C" result = ModelicaStrings_compare(a, b, caseSensitive) annotation(Library = "ModelicaExternalC");
  end compare;
  function skip
    input String s;
    input Integer from = 1;
    output Integer next;
    external "C" next = ModelicaStrings_skipWhiteSpace(s, from) annotation(Library = "ModelicaExternalC");
  end skip;
  function scan
    input String s;
    input Integer from = 1;
    input Boolean unsigned = false;
    output Integer next;
    output Real number;
    external "C" ModelicaStrings_scanReal(s, from, unsigned, next, number) annotation(Library = "ModelicaExternalC");
  end scan;
  function hash
    input String s;
    output Integer y;
    external "C" y = ModelicaStrings_hashString(s) annotation(Library = "ModelicaExternalC");
  end hash;
end P;
model M
  parameter Integer n = P.length("spoon");
  Real x[n] = zeros(n);
  Integer i = P.length(P.substring("ladle", 2, 4));
  Integer order[3] = {Integer(P.compare("a", "b")), Integer(P.compare("Fork", "fORK", false)), Integer(P.compare("b", "a"))};
  Integer blank = P.skip("   x");
  Real number;
  Integer behind;
  Boolean same = P.substring("knife", 1, 2) == "kn";
  Integer hash = P.hash("a");
equation
  (behind, number) = P.scan("  2.5e1;");
end M;
