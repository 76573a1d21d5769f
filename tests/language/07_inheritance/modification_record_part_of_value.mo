// 7.2.3: A field of a record that has a value as a whole has no other value further out.
// error: E0105 at 11:9
record A
  Real x;
  Real y;
end A;
model B
  A a = A(2, 3);
end B;
model M
  B b(a(x = 4));
end M;
