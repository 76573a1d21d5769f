// 7.3.2: A new constraint of a redeclared class fits the old one.
// error: E0130 at 17:47
partial model A
  Real x;
end A;
model B
  extends A(x = 3);
end B;
model Z
  Real q = 1;
end Z;
model C
  replaceable model X = B constrainedby A;
  X x;
end C;
model D
  extends C(redeclare replaceable model X = B constrainedby Z);
end D;
model M
  D d;
end M;
