// 9.3.1: A connector has as many potentials as flows.
// error: E0131 at 4:3
model M
  connector A
    Real e;
    Real g;
    flow Real f;
  end A;
  A a;
equation
  a.e = 1;
  a.g = 2;
end M;
