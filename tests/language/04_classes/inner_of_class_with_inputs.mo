// 4.7: An inner component is of no class that has connectors with inputs.
// error: E0131 at 8:11
model M
  connector I = input Real;
  block B
    I u;
  end B;
  inner B b;
equation
  b.u = 1;
end M;
