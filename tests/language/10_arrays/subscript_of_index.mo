// 10.5: The index of a loop has no dimensions.
// error: E0111 at 7:13 'i' has no dimensions and cannot have subscripts
model M
  Real x[3];
equation
  for i in 1:3 loop
    x[i] = i[1];
  end for;
end M;
