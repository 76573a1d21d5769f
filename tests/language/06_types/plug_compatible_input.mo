// 6.4: The prefixes input and output are those of the element that is asked for.
// error: E0130 at 13:20
model R1
  Real x = 1;
end R1;
model R2
  input Real x;
end R2;
model U
  replaceable R1 r;
end U;
model M
  U u(redeclare R2 r(x = 1));
end M;
