// 8.3.6: reinit stands in when-equations only.
// error: E0123 at 9:5
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
algorithm
  when time > 0.5 then
    reinit(x, 1);
  end when;
end M;
