// 7.2.4: An attribute of a field is modified although the record has a value.
// expect: b.a.x = 2
record A
  Real x;
  Real y;
end A;
model B
  A a = A(2, 3);
end B;
model M
  B b(a(x(start = 4)));
end M;
