// 20: Loss of a resistor through its conditional heat port, and heat between two lumps.
// expect: c.T = 302 at 1 within 1e-6
// expect: dT = 3.6787944117144233 at 1 within 1e-4
model M
  import Modelica.Thermal.HeatTransfer.Components.*;
  import Modelica.Electrical.Analog.{Basic, Sources};
  Sources.ConstantCurrent i(I = 2);
  Basic.Resistor r(R = 3, useHeatPort = true);
  Basic.Ground g;
  HeatCapacitor c(C = 6, T(start = 300, fixed = true));
  HeatCapacitor a(C = 2, T(start = 310, fixed = true)), b(C = 2, T(start = 300, fixed = true));
  ThermalConductor k(G = 1);
  Real dT = a.T - b.T;
equation
  connect(i.p, r.p);
  connect(i.n, r.n);
  connect(i.n, g.p);
  connect(r.heatPort, c.port);
  connect(a.port, k.port_a);
  connect(k.port_b, b.port);
  annotation(experiment(Tolerance = 1e-8));
end M;
