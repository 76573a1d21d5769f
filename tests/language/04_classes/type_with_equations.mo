// 4.7: A type has no equations.
// error: E0131 at 6:3 'M.T' is a type and cannot have equations
model M
  type T
    extends Real;
  equation
    assert(true, "a");
  end T;
  T t = 1;
end M;
