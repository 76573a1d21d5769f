// 6.7: A record with more fields is no value of a record.
// error: E0201 at 11:9
model M
  record A
    Real x;
  end A;
  record B
    Real x;
    Real y;
  end B;
  A a = b;
  B b(x = 1, y = 2);
end M;
