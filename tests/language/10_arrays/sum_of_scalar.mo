// 10.3.4: sum() is about the elements of an array.
// error: E0202 at 4:16 'sum' is about the elements of an array, but this has type Real
model M
  Real y = sum(time);
end M;
