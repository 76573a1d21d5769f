// 8.3.8: terminate() may stand outside of when: the run ends where its condition becomes true.
// expect: x = 0.5
// expect: late = 0.5
model M
  Real x(start = 0, fixed = true), late = time;
equation
  der(x) = 1;
  if x > 0.5 then
    terminate("far enough");
  end if;
end M;
