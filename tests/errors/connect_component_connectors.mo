model M
  connector P
    Real v;
    flow Real i;
  end P;
  model R
    P p, n;
  equation
    p.v - n.v = p.i;
    p.i + n.i = 0;
  end R;
  R a, b;
equation
  connect(a, b);
  connect(a.n, b.q);
end M;
