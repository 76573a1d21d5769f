// 7.2: A value that a modification makes follow from itself has none.
// error: E0604 at 7:7 parameter
model M
  model A
    parameter Integer n = 1;
  end A;
  A b(n = b.n);
end M;
