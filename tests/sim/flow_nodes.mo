// Flows through orifices and check valves that meet in nodes without volume: no motion moves the pressure there, and a root has an infinite slope where
// its flow turns.
package FlowNodes
  model TeeSqrt "the same by Torricelli's law"
    Real p, q1, q2, q3, p1 = sin(time), p2 = 0.5*cos(2*time), p3 = 0.3*sin(3*time);
  equation
    q1 = sign(p1 - p)*sqrt(abs(p1 - p));
    q2 = sign(p2 - p)*sqrt(abs(p2 - p));
    q3 = sign(p3 - p)*sqrt(abs(p3 - p));
    q1 + q2 + q3 = 0;
    annotation(experiment(StopTime = 10));
  end TeeSqrt;
  model TeeDp "with pressure differences named"
    Real p, q[3], dp[3], s[3] = {sin(time), 0.5*cos(2*time), 0.3*sin(3*time)};
    parameter Real k[3] = {1, 2, 0.5};
  equation
    for i in 1:3 loop
      dp[i] = s[i] - p;
      q[i] = k[i]*sign(dp[i])*sqrt(abs(dp[i]));
    end for;
    sum(q) = 0;
    annotation(experiment(StopTime = 10));
  end TeeDp;
  model TeeTanksSqrt
    Real h[3](start = {1, 0.5, 0.1}, each fixed = true), q[3], p;
    parameter Real A[3] = {1, 2, 0.5};
  equation
    for i in 1:3 loop
      A[i]*der(h[i]) = -q[i] + (if i == 1 then 0.2*sin(time) else 0);
      q[i] = sign(h[i] - p)*sqrt(abs(h[i] - p));
    end for;
    sum(q) = 0;
    annotation(experiment(StopTime = 20));
  end TeeTanksSqrt;
  model Checks "two check valves in a row, a vessel"
    Real p(start = 0, fixed = true), m, q, s = sin(3*time);
  equation
    q = 2*sqrt(max(s - m, 0));
    q = 3*sqrt(max(m - p, 0));
    der(p) = q - 0.3*p;
    annotation(experiment(StopTime = 5));
  end Checks;
  model ChecksIf "by if"
    Real p(start = 0, fixed = true), m, q, s = sin(3*time);
  equation
    q = if s > m then 2*sqrt(s - m) else 0;
    q = if m > p then 3*sqrt(m - p) else 0;
    der(p) = q - 0.3*p;
    annotation(experiment(StopTime = 5));
  end ChecksIf;
  model ChecksLeak "two check valves with leaks"
    Real p(start = 0, fixed = true), m, q, s = sin(3*time);
  equation
    q = 2*sqrt(max(s - m, 0)) + 1e-3*(s - m);
    q = 3*sqrt(max(m - p, 0)) + 2e-3*(m - p);
    der(p) = q - 0.3*p;
    annotation(experiment(StopTime = 5));
  end ChecksLeak;
  model Prescribed "a flow through two orifices in series passes through 0"
    Real q = sin(2*time), a, b, dp1, dp2;
  equation
    a - b = dp1;
    b = dp2;
    q = 2*sign(dp1)*sqrt(abs(dp1));
    q = 3*sign(dp2)*sqrt(abs(dp2));
    annotation(experiment(StopTime = 5));
  end Prescribed;
  model PrescribedState "flow of a state"
    Real q(start = 0, fixed = true), a, b, v(start = 1, fixed = true);
  equation
    der(q) = v;
    der(v) = -4*q - 0.1*(a - 0);
    q = 2*sign(a - b)*sqrt(abs(a - b));
    q = 3*sign(b)*sqrt(abs(b));
    annotation(experiment(StopTime = 5));
  end PrescribedState;
  model PrescribedPar "flow splits in two parallel orifices, one behind another"
    Real q = sin(2*time), a, b, q1, q2;
  equation
    q = 2*sign(a - b)*sqrt(abs(a - b));
    q = q1 + q2;
    q1 = sign(b)*sqrt(abs(b));
    q2 = 0.5*sign(b - 0.2)*sqrt(abs(b - 0.2));
    annotation(experiment(StopTime = 5));
  end PrescribedPar;
  connector Port Real p; flow Real q; end Port;
  partial model TwoPort Port a, b; end TwoPort;
  model Orifice Port a, b; parameter Real k = 1; Real dp; 
  equation
    dp = a.p - b.p;
    a.q + b.q = 0;
    a.q = k*sign(dp)*sqrt(abs(dp));
  end Orifice;
  model OrificeQ Port a, b; parameter Real k = 1; 
  equation
    a.q + b.q = 0;
    a.q*abs(a.q) = k^2*(a.p - b.p);
  end OrificeQ;
  model Check Port a, b; parameter Real k = 1; 
  equation
    a.q + b.q = 0;
    a.q = k*sqrt(max(a.p - b.p, 0));
  end Check;
  model Source Port a; input Real p; equation a.p = p; end Source;
  model FlowSource Port a; input Real q; equation a.q = -q; end FlowSource;
  model Tank Port a; parameter Real A = 1, h0 = 0; Real h(start = h0, fixed = true); equation A*der(h) = a.q; a.p = h; end Tank;
  model Tee replaceable model O = Orifice constrainedby TwoPort;
    O o1, o2(k = 2), o3(k = 0.5);
    Source s1(p = sin(time)), s2(p = 0.5*cos(2*time)), s3(p = 0.3*sin(3*time));
  equation
    connect(s1.a, o1.a); connect(s2.a, o2.a); connect(s3.a, o3.a);
    connect(o1.b, o2.b); connect(o2.b, o3.b);
    annotation(experiment(StopTime = 10));
  end Tee;
  model Row replaceable model O = Orifice constrainedby TwoPort;
    O o1(k = 2), o2(k = 3); Source s(p = sin(3*time)); Tank t;
  equation
    connect(s.a, o1.a); connect(o1.b, o2.a); connect(o2.b, t.a);
    annotation(experiment(StopTime = 5));
  end Row;
  model RowQ extends Row(redeclare model O = OrificeQ); annotation(experiment(StopTime = 5)); end RowQ;
  model RowCheck extends Row(redeclare model O = Check); annotation(experiment(StopTime = 5)); end RowCheck;
  model Mixed "check valve and orifice in a row"
    Check o1(k = 2); Orifice o2(k = 3); Source s(p = sin(3*time)); Tank t;
  equation
    connect(s.a, o1.a); connect(o1.b, o2.a); connect(o2.b, t.a);
    annotation(experiment(StopTime = 5));
  end Mixed;
  model PrescribedConnected replaceable model O = Orifice constrainedby TwoPort;
    O o1(k = 2), o2(k = 3); FlowSource s(q = sin(2*time)); Source t(p = 0);
  equation
    connect(s.a, o1.a); connect(o1.b, o2.a); connect(o2.b, t.a);
    annotation(experiment(StopTime = 5));
  end PrescribedConnected;
  model Tanks "three tanks, a tee" replaceable model O = Orifice constrainedby TwoPort;
    O o[3](k = {1, 2, 0.5}); Tank t[3](h0 = {1, 0.5, 0.1}, A = {1, 2, 0.5});
  equation
    for i in 1:3 loop connect(t[i].a, o[i].a); end for; connect(o[1].b, o[2].b); connect(o[2].b, o[3].b);
    annotation(experiment(StopTime = 20));
  end Tanks;
  model TanksQ extends Tanks(redeclare model O = OrificeQ); annotation(experiment(StopTime = 20)); end TanksQ;
  model RowOfThree "two tanks, three orifices in a row" replaceable model O = Orifice constrainedby TwoPort;
    O o1(k = 1), o2(k = 2), o3(k = 0.7); Tank s(h0 = 1), t;
  equation
    connect(s.a, o1.a); connect(o1.b, o2.a); connect(o2.b, o3.a); connect(o3.b, t.a);
    annotation(experiment(StopTime = 10));
  end RowOfThree;
  model RowOfThreeQ extends RowOfThree(redeclare model O = OrificeQ); annotation(experiment(StopTime = 10)); end RowOfThreeQ;
  model Bridge "a Wheatstone bridge of orifices" replaceable model O = Orifice constrainedby TwoPort;
    O o1(k = 1), o2(k = 2), o3(k = 2), o4(k = 1), o5(k = 1); Source s(p = sin(3*time)), g(p = 0);
  equation
    connect(s.a, o1.a); connect(s.a, o2.a); connect(o1.b, o3.a); connect(o2.b, o4.a); connect(o3.b, g.a); connect(o4.b, g.a);
    connect(o1.b, o5.a); connect(o2.b, o5.b);
    annotation(experiment(StopTime = 5));
  end Bridge;
  model BridgeQ extends Bridge(redeclare model O = OrificeQ); annotation(experiment(StopTime = 5)); end BridgeQ;
  model ChecksPower "two check valves in a row with another power"
    Real p(start = 0, fixed = true), m, q, s = sin(3*time);
  equation
    q = 2*max(s - m, 0)^0.6;
    q = 3*max(m - p, 0)^0.6;
    der(p) = q - 0.3*p;
    annotation(experiment(StopTime = 5));
  end ChecksPower;
  model TeePower
    Real p, q1, q2, q3, p1 = sin(time), p2 = 0.5*cos(2*time), p3 = 0.3*sin(3*time);
  equation
    q1 = sign(p1 - p)*abs(p1 - p)^0.6;
    q2 = sign(p2 - p)*abs(p2 - p)^0.6;
    q3 = sign(p3 - p)*abs(p3 - p)^0.6;
    q1 + q2 + q3 = 0;
    annotation(experiment(StopTime = 10));
  end TeePower;
  model PrescribedPower
    Real q1 = sin(2*time), p;
  equation
    q1 = sign(p)*abs(p)^(4/7);
    annotation(experiment(StopTime = 10));
  end PrescribedPower;
  model Pascals "pressures and flows with q*abs(q), in SI units"
    parameter Real k = 1e-6;
    Real p(start = 1e5, fixed = true), q;
  equation
    q*abs(q) = k^2*(1e5 + 50*sin(time) - p);
    1e-6*der(p) = q;
    annotation(experiment(StopTime = 10));
  end Pascals;
  model Grid "a grid of orifices in SI units, n by n nodes without volume"
    parameter Integer n = 4;
    Orifice h[n, n - 1](each k = 1e-6), v[n - 1, n](each k = 2e-6);
    Source s(p = 1e5*(2 + sin(3*time))), t(p = 2e5);
  equation
    for i in 1:n loop for j in 1:n-2 loop connect(h[i, j].b, h[i, j + 1].a); end for; end for;
    for i in 1:n-2 loop for j in 1:n loop connect(v[i, j].b, v[i + 1, j].a); end for; end for;
    for i in 1:n-1 loop connect(v[i, 1].a, h[i, 1].a); connect(v[i, n].a, h[i, n - 1].b);
      for j in 2:n-1 loop connect(v[i, j].a, h[i, j].a); end for; end for;
    connect(v[n - 1, 1].b, h[n, 1].a); for j in 2:n loop connect(v[n - 1, j].b, h[n, j - 1].b); end for;
    connect(s.a, h[1, 1].a); connect(t.a, h[n, n - 1].b);
    annotation(experiment(StopTime = 3));
  end Grid;
end FlowNodes;
