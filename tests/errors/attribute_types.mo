model M
  Real x(start = "1", fixed = 1);
equation
  der(x) = 1;
end M;
