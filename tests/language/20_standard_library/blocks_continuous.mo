// 20: Linear blocks: step responses.
// expect: f.y = 1.2642411176571153 at 1 within 1e-6
// expect: g.y = 0.26424111765711533 at 1 within 1e-6
// expect: p.y = 2 at 1 within 1e-6
// expect: i.y = 3.5 at 1 within 1e-6
// expect: ss.y[1] = 0.63212055882855767 at 1 within 1e-6
model M
  import Modelica.Blocks.*;
  Sources.Step one(height = 1);
  Continuous.FirstOrder f(k = 2, T = 1, initType = Types.Init.InitialState);
  Continuous.TransferFunction g(b = {1}, a = {1, 2, 1}, initType = Types.Init.InitialState);
  Continuous.PI p(k = 1, T = 1, initType = Types.Init.InitialState);
  Continuous.Integrator i(k = 3, y_start = 0.5);
  Continuous.StateSpace ss(A = [-1], B = [1], C = [1], initType = Types.Init.InitialState);
equation
  connect(one.y, f.u);
  connect(one.y, g.u);
  connect(one.y, p.u);
  connect(one.y, i.u);
  connect(one.y, ss.u[1]);
  annotation(experiment(Tolerance = 1e-8));
end M;
