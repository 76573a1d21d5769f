// 4.7: A value that a class or a short class gives may be another one.
// expect: b.x = 5
// expect: c.x = 6
model A
  Real x;
end A;
model B
  extends A(x = 1);
end B;
model C = A(x = 2);
model M
  B b(x = 5);
  C c(x = 6);
end M;
