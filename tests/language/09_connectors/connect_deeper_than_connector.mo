// 9.1: Connectors of parts of parts are not connected.
// error: E0401 at 19:11 'b.a.c' is a connector of a part of 'b'
model M
  connector C
    Real e;
    flow Real f;
  end C;
  model A
    C c;
  equation
    c.e = 4;
  end A;
  model B
    A a;
  end B;
  B b;
  C d;
equation
  connect(b.a.c, d);
end M;
