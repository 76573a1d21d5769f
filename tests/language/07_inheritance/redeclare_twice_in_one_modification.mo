// 7.2.4: A class is redeclared once in a modification.
// error: E0105 at 13:30
model A
  replaceable model X
    Real q = 1;
  end X;
  X x;
end A;
model B
  Real q = 2;
end B;
model M
  A a(redeclare model X = B, redeclare model X = B);
end M;
