// 16.4: The argument of previous is a component.
// error: E0210 at 7:18
model M
  Real x(start = 0);
equation
  when Clock(0.1) then
    x = previous(x + 1);
  end when;
end M;
