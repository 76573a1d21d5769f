// 4.8: elements of an array inside of a record have the same fields where what gives them shaped them differently; the record is a value.
// expect: stack.cell[1].y = 4
// expect: stack.cell[2].y = 12
// expect: stack.cell[3].y = 4
record C
  parameter Real q = 1;
  parameter Boolean linear = true;
  parameter Real t[:, 2] = [0, 0.5; 1, 1];
  final parameter Real u[:, 2] = if linear then [0, 0; 1, 1] else t;
end C;
record S
  parameter Integer n = 1;
  parameter Integer bad = 0;
  parameter C original, degraded;
  parameter C cell[n] = {if k == bad then degraded else original for k in 1:n};
end S;
model Cell
  parameter C c;
  Real y = c.q + c.u[2, 2];
end Cell;
model Stack
  parameter S s;
  Cell cell[s.n](c = s.cell);
end Stack;
model M
  parameter C original(q = 3, linear = false), degraded(q = 5, linear = false, t = [0, 1; 2, 7]);
  parameter S s(n = 3, bad = 2, original = original, degraded = degraded);
  Stack stack(s = s);
end M;
