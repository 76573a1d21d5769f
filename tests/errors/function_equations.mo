function f
  input Real u;
  output Real y;
equation
  y = 2*u;
end f;
model M
  Real x = f(time);
end M;
