// 9.3: Streams, arrays and connectors inside are matched by their names, also where one side is an outside connector.
// expect: w.l.c.f[2] = 8
// expect: s.c.f[2] = -16
// expect: w.l.c.inside.m = 5
// expect: h = 7
package P
  connector C
    Real p;
    flow Real m;
    stream Real h;
    parameter Integer n = 2;
  end C;
  connector D
    stream Real h;
    parameter Integer n = 2;
    flow Real m;
    Real p;
  end D;
  connector E
    flow Real f[2];
    Real e[2];
    C inside;
  end E;
  connector F
    D inside;
    Real e[2];
    flow Real f[2];
  end F;
  model S
    E c;
  equation
    c.e = {3, 4};
    c.inside.p = 5;
    c.inside.h = 7;
  end S;
  model L
    F c;
  equation
    c.f = {c.e[1], 2*c.e[2]};
    c.inside.m = c.inside.p;
    c.inside.h = 1;
  end L;
  model W
    F c;
    L l;
  equation
    connect(c, l.c);
  end W;
end P;
model M
  P.S s;
  P.W w;
  P.L l;
  Real h = inStream(w.c.inside.h);
equation
  connect(w.c, s.c);
  connect(l.c, s.c);
end M;
