// 8.3.1: An equation between Reals does not determine an Integer.
// error: E0201 at 6:3
model M
  Integer i;
equation
  i = 2.0;
end M;
