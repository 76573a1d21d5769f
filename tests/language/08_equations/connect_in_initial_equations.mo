// 8.6: Connections hold at all times and are no initial equations.
// error: E0133 at 9:3 'connect' holds at all times and cannot stand among initial equations
model M
  connector C Real e; flow Real f; end C;
  model R C c; equation c.e = 2; end R;
  model S C c; equation c.f = 2; end S;
  R r; S s;
initial equation
  connect(r.c, s.c);
end M;
