// 8.6: terminate() among initial equations ends the run at its start.
// expect: x = 1
// expect: late = 0
model M
  Real x(start = 1, fixed = true), late = time;
initial equation
  if x > 0 then
    terminate("nothing to do");
  end if;
equation
  der(x) = x;
end M;
