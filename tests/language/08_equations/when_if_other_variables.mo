// 8.3.5.2: The branches of an if-equation inside a when-equation have the same variables on their left sides.
// error: E0122 at 8:7
model M
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  when time > 0.3 then
    if time > 1 then
      x = 1;
    else
      y = 2;
    end if;
  end when;
end M;
