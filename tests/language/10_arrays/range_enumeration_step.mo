// 10.4.3: A range of an enumeration has no step.
// error: E0209 at 5:18 a range of an enumeration or of Booleans has no step: it has each value from the first to the last
model M
  type E = enumeration(one, two, three);
  E x[3] = E.one:E.one:E.three;
end M;
