// 9.4: overconstrained connectors with connectors inside are connected as a whole where parts of other connectors are connected.
// expect: l.o[3].p.i = 1.5
// expect: l.o[2].p.reference.gamma = 1
// expect: l.tp.h[2].T = 300
package OverconstrainedBesideParts
  record Reference
    Real gamma;
    function equalityConstraint
      input Reference r1;
      input Reference r2;
      output Real residue[0];
    algorithm
      assert(abs(r1.gamma - r2.gamma) < 1e-6, "not equal");
    end equalityConstraint;
  end Reference;
  connector P
    Real v;
    flow Real i;
  end P;
  connector Pin
    extends P;
    Reference reference;
  end Pin;
  connector Plug
    parameter Integer m = 3;
    P pin[m];
    Reference reference;
  end Plug;
  connector H
    Real T;
    flow Real Q;
  end H;
  connector Thermal
    parameter Integer m = 3;
    H h[m];
  end Thermal;
  model Source
    parameter Integer m = 3;
    Plug p(final m = m);
  equation
    Connections.root(p.reference);
    p.reference.gamma = time;
    for j in 1:m loop
      p.pin[j].v = j + p.pin[j].i;
    end for;
  end Source;
  model Split
    parameter Integer m = 3;
    Plug a(final m = m);
    Pin b[m];
  equation
    for j in 1:m loop
      Connections.branch(a.reference, b[j].reference);
      a.reference.gamma = b[j].reference.gamma;
      a.pin[j].v = b[j].v;
      a.pin[j].i + b[j].i = 0;
    end for;
  end Split;
  model One
    Pin p;
    H h;
  equation
    p.i = p.v;
    h.Q = 0;
  end One;
  model Load
    parameter Integer m = 3;
    Plug a(final m = m);
    Split s(final m = m);
    One o[m];
    Thermal tp(final m = m);
  equation
    connect(a, s.a);
    connect(s.b, o.p);
    connect(o.h, tp.h);
  end Load;
  model Warm
    H h[3];
  equation
    h.T = fill(300, 3);
  end Warm;
end OverconstrainedBesideParts;
model M
  OverconstrainedBesideParts.Source s;
  OverconstrainedBesideParts.Load l;
  OverconstrainedBesideParts.Warm w;
equation
  connect(s.p, l.a);
  connect(l.tp.h, w.h);
  annotation(experiment(StopTime = 1));
end M;
