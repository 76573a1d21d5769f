// 7.2.4: A field of a record is not modified beside a value for the whole record.
// error: E0105 at 8:17
record A
  parameter Real x;
  parameter Real y;
end A;
model M
  parameter A a(x = 1) = A(2, 3);
end M;
