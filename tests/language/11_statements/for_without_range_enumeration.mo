// 11.2.2.1: A loop without a range over a dimension of an enumeration, or of Booleans, takes all of their values.
// expect: x = {2, 1}
// expect: y = {1, 2}
// expect: w = {10, 20}
model M
  type E = enumeration(a, b);
  Real x[Boolean], y[E], w[E];
equation
  for i loop
    x[i] = if i then 1 else 2;
  end for;
  for e loop
    y[e] = Integer(e);
  end for;
algorithm
  for e loop
    w[e] := 10*Integer(e);
  end for;
end M;
