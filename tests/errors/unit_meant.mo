model M
  Real p(unit = "Kg");
  Real q(unit = "N*m");
  Real r(unit = "m/s^2");
equation
  p = 1;
  q = 2;
  r = 3;
end M;
