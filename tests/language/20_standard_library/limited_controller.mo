// 20: A PI controller with limits drives an integrating plant to its set value; while limited, the plant rises at yMax.
// expect: plant.y = 0.5 at 0.5 within 1e-2
// expect: plant.y = 2 at 12 within 1e-3
// expect: pid.y = 0 at 12 within 1e-3
model M
  import Modelica.Blocks.*;
  Sources.Constant set(k = 2);
  Continuous.LimPID pid(controllerType = Types.SimpleController.PI, k = 5, Ti = 1, yMax = 1);
  Continuous.Integrator plant;
equation
  connect(set.y, pid.u_s);
  connect(pid.y, plant.u);
  connect(plant.y, pid.u_m);
  annotation(experiment(StopTime = 12));
end M;
