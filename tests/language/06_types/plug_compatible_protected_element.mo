// 6.4: What is asked for is public.
// error: E0130 at 14:20
model R1
  Real x = 1;
end R1;
model R2
protected
  Real x = 1;
end R2;
model U
  replaceable R1 r;
end U;
model M
  U u(redeclare R2 r);
end M;
