// 8.3.5: A when-equation does not give an Integer a Real.
// error: E0201 at 7:5
model M
  Integer i(start = 0, fixed = true);
equation
  when time > 0.5 then
    i = 2.0;
  end when;
end M;
