// 20: Conditions: hysteresis, flip-flop, timer.
// expect: h.y = false at 0.55
// expect: h.y = true at 0.75
// expect: ff.Q = true at 0.9
// expect: t.y = 0.25 at 1 within 1e-6
// expect: y.y = 4 at 1
model M
  import Modelica.Blocks.*;
  Sources.Ramp r(duration = 1, height = 1);
  Logical.Hysteresis h(uLow = 0.2, uHigh = 0.6);
  Logical.GreaterThreshold g(threshold = 0.75);
  Logical.RSFlipFlop ff;
  Logical.Timer t;
  Sources.BooleanConstant no(k = false);
  Sources.Constant three(k = 3), four(k = 4);
  Logical.Switch y;
equation
  connect(r.y, h.u);
  connect(r.y, g.u);
  connect(h.y, ff.S);
  connect(no.y, ff.R);
  connect(g.y, t.u);
  connect(four.y, y.u1);
  connect(g.y, y.u2);
  connect(three.y, y.u3);
end M;
