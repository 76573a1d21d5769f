// 9.3: A flow and its potential are matched by their names, whatever their order is.
// expect: l.c.f = 3
model M
  connector C
    Real e;
    flow Real f;
  end C;
  connector D
    flow Real f;
    Real e;
  end D;
  model S
    C c;
  equation
    c.e = 3;
  end S;
  model L
    D c;
  equation
    c.f = c.e;
  end L;
  S s;
  L l;
equation
  connect(s.c, l.c);
end M;
