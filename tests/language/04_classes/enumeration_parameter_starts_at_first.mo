// 4.9.5: A parameter of an enumeration without a value has the first literal.
// expect: k = 1
// warning: W1601 at 6:15
model M
  type E = enumeration(a, b, c);
  parameter E p;
  Integer k = Integer(p);
end M;
