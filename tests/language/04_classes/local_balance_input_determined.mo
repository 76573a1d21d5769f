// 4.7: A class does not determine the inputs of its connectors.
// error: E0420 at 8:5
model M
  connector I = input Real;
  block B
    I u;
  equation
    u = 1;
  end B;
  B b;
end M;
