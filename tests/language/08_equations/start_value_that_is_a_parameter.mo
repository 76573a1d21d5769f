// 8.6.2: Of start values that are parameters the one counts whose value is given further out.
// warning: W1604 at 13:12
// warning: W1604 at 12:12
// warning: W1604 at 24:11
// expect: a.y = 3
// expect: b.y = 3
// expect: near.c.x = 3
package P
  model Pair
    parameter Real xStart = 4;
    parameter Real yStart = 5;
    Real x(start = xStart);
    Real y(start = yStart);
  equation
    x = y;
    der(x) = 0;
  end Pair;
  connector C
    Real x;
    flow Real f;
  end C;
  model Store
    parameter Real xStart = 4;
    C c(x(start = xStart));
  equation
    c.f = der(c.x);
  end Store;
  model Box
    parameter Real xStart = 4;
    Store store(xStart = xStart);
    C c;
  equation
    connect(c, store.c);
  end Box;
end P;
model M
  P.Pair a(xStart = 3);
  P.Pair b(yStart = 3);
  P.Store near;
  P.Box far(xStart = 3);
equation
  connect(near.c, far.c);
end M;
