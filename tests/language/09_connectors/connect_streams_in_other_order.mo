// 9.3: Streams, arrays and connectors inside are matched by their names, also where one side is an outside connector.
// expect: w.l.c.f[2] = 8
// expect: s.c.f[2] = -16
// expect: w.l.c.inside.g = 5
// expect: l.d.m = 6
// expect: s.d.m = -12
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
  connector A
    Real u;
    flow Real g;
  end A;
  connector B
    flow Real g;
    Real u;
  end B;
  connector E
    flow Real f[2];
    Real e[2];
    A inside;
  end E;
  connector F
    B inside;
    Real e[2];
    flow Real f[2];
  end F;
  model S
    E c;
    C d;
  equation
    c.e = {3, 4};
    c.inside.u = 5;
    d.p = 6;
    d.h = 7;
  end S;
  model L
    F c;
    D d;
  equation
    c.f = {c.e[1], 2*c.e[2]};
    c.inside.g = c.inside.u;
    d.m = d.p;
    d.h = 1;
  end L;
  model W
    F c;
    C d;
    L l;
  equation
    connect(c, l.c);
    connect(l.d, d);
  end W;
end P;
model M
  P.S s;
  P.W w;
  P.L l;
  Real h = inStream(w.l.d.h);
equation
  connect(w.c, s.c);
  connect(l.c, s.c);
  connect(w.d, s.d);
  connect(s.d, l.d);
end M;
