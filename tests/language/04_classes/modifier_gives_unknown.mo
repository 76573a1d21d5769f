// 4.7: A modification of a component gives no value to what its class leaves to its equations.
// error: E0103 at 7:7
model M
  model A
    Real x;
  end A;
  A a(x = 1);
end M;
