// 8.3.6: reinit assigns to its state and to nothing else; what follows from the state's derivative keeps its value (a file of Modelica).
// expect: v = -1 at 1 within 1e-12
// expect: p = 2 at 1 within 1e-12
// expect: J = 1 at 1 within 1e-12
// expect: E = 9 at 1 within 1e-12
// expect: w = 0 at 1 within 1e-12
model M
  Real v(start = 1, fixed = true), p(start = 2, fixed = true), f;
  Real beta(start = 1, fixed = true), J(start = 1, fixed = true), E;
  Real a(start = 1, fixed = true), w(start = 0, fixed = true);
equation
  der(v) = 0;
  f = 3*der(v);
  der(p) = f;
  der(beta) = 0;
  E = beta^2;
  der(J) = der(E);
  3*der(a) + der(w) = 0;
  der(a) + 2*der(w) = 0;
  when time > 0.5 then
    reinit(v, -pre(v));
    reinit(beta, 3);
    reinit(a, -pre(a));
  end when;
end M;
