// 6.4: Elements have the same number of dimensions.
// error: E0130 at 13:20
model R1
  Real x = 1;
end R1;
model R2
  Real x[2] = {1, 2};
end R2;
model U
  replaceable R1 r;
end U;
model M
  U u(redeclare R2 r);
end M;
