// 8.3.6: One when-equation sets a variable anew.
// error: E0122 at 11:5 'x' is set anew by two when-equations
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 0;
  when time >= 0.5 then
    reinit(x, 5);
  end when;
  when time >= 0.7 then
    reinit(x, 6);
  end when;
end M;
