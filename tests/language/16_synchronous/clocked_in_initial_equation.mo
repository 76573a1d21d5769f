// 16.9: Variables with clocks stand in no initial equations.
// error: E0514 at 10:3
model M
  Integer n(start = 0);
equation
  when Clock(0.1) then
    n = previous(n) + 1;
  end when;
initial equation
  n = 3;
end M;
