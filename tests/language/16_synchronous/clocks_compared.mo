// 16.3: Clocks are not compared.
// error: E0204 at 4:15
model M
  Boolean b = Clock(1) == Clock(1);
end M;
