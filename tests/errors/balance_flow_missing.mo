model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
    Real u;
  equation
    u = p.v - n.v;
    u = 10*p.i;
  end R;
  R r1, r2;
equation
  connect(r1.n, r2.p);
  connect(r2.n, r1.p);
end M;
