// 10.3.4: max() of one argument is about the elements of an array.
// error: E0202 at 4:16 'max' is about the elements of an array, but this has type Real
model M
  Real y = max(time);
end M;
