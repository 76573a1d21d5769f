// 4.8: a record given as a whole gives all fields of its parts, also those that a redeclaration has added to one that is replaceable (7.3).
// expect: stack.cell[1].inside.y = 27
// expect: stack.cell[2].inside.y = 92
// expect: stack.cell[3].inside.z = {8, 18}
record RC
  parameter Real R;
  parameter Real C;
end RC;
record CellData
  parameter Real q = 1;
end CellData;
record RCCellData
  extends CellData;
  parameter Integer n = 1 annotation(Evaluate = true);
  parameter RC rc[n] = {RC(R = 0, C = 0)};
end RCCellData;
record StackData
  parameter Integer n = 1;
  parameter Integer bad = 0;
  replaceable parameter CellData original, degraded;
  replaceable parameter CellData cell[n] = {if k == bad then degraded else original for k in 1:n};
end StackData;
record RCStackData
  extends StackData(redeclare RCCellData original, redeclare RCCellData degraded, redeclare RCCellData cell);
end RCStackData;
model Inner
  parameter RCCellData c;
  Real y = c.q + sum(c.rc.R);
  Real z[c.n] = c.rc.C;
end Inner;
model Cell
  replaceable parameter CellData c;
end Cell;
model RCCell
  extends Cell(redeclare RCCellData c);
  Inner inside(c = c);
end RCCell;
model BaseStack
  replaceable parameter StackData s;
  replaceable Cell cell[s.n](c = s.cell);
end BaseStack;
model Stack
  extends BaseStack(redeclare RCStackData s, redeclare RCCell cell(c = s.cell));
end Stack;
model M
  parameter RCCellData original(q = 3, n = 2, rc = {RC(R = 7, C = 8), RC(R = 17, C = 18)}), degraded(q = 5, n = 2, rc = {RC(R = 70, C = 8), RC(R = 17, C = 18)});
  parameter RCStackData s(n = 3, bad = 2, original = original, degraded = degraded);
  Stack stack(s = s);
end M;
