// 4.4.4: A Real that is declared as discrete is assigned in a when-clause.
// error: E0131 at 4:17
model M
  discrete Real x;
equation
  x = if time > 0.5 then 1 else 2;
end M;
