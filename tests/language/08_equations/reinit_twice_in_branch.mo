// 8.3.6: In one branch of a when-equation a variable is set anew once.
// error: E0122 at 9:5 set anew twice in one branch
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 0;
  when time >= 0.5 then
    reinit(x, 5);
    reinit(x, 6);
  end when;
end M;
