// 16.5.1: The argument of hold is a component, or does not change.
// error: E0210 at 5:17
model M
  Real x = sample(time, Clock(0.1));
  Real y = hold(x + 1);
end M;
