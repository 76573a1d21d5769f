// 4.4.4: The value of an array of parameters has no element of it inside.
// error: E0604 at 5:25
model M
  parameter Integer n = 10;
  parameter Real x[n] = cat(1, {3.4}, x[1:(n - 1)]);
end M;
