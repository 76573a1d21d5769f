// 6.4: A model does not stand in for a record.
// error: E0130 at 13:20
record R1
  Real x = 1;
end R1;
model R2
  Real x = 1;
end R2;
model U
  replaceable R1 r;
end U;
model M
  U u(redeclare R2 r);
end M;
