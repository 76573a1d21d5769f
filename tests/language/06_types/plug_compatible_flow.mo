// 6.4: The prefix flow is that of the element that is asked for.
// error: E0130 at 15:20
connector C1
  Real e;
  flow Real f;
end C1;
connector C2
  flow Real e;
  Real f;
end C2;
model U
  replaceable C1 r;
end U;
model M
  U u(redeclare C2 r);
end M;
