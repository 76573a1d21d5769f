// 20: A double pendulum of boxes, the second hanging in a turned frame: its energy stays.
// expect: drift = 0 at 2 within 1e-6
// expect: a.body.m = 0.3 within 1e-12
model M
  import Modelica.Mechanics.MultiBody;
  inner MultiBody.World world;
  MultiBody.Joints.Revolute r1(phi(fixed = true), w(fixed = true)), r2(phi(fixed = true, start = 0.5), w(fixed = true));
  MultiBody.Parts.BodyBox a(r = {0.5, 0, 0}, width = 0.06, density = 1000/6), b(r = {0.5, 0, 0}, width = 0.06);
  MultiBody.Parts.FixedRotation turn(angle = 90, n = {1, 0, 0});
  Real height[2] = {a.body.r_0[2] + a.body.d[2], b.body.r_0[2] + b.body.d[2]};
  Real energy = a.m*(a.body.v*a.body.v/2 + 9.81*height[1]) + b.m*(b.body.v*b.body.v/2 + 9.81*height[2])
    + a.body.w_a*(a.I*a.body.w_a)/2 + b.body.w_a*(b.I*b.body.w_a)/2;
  Real drift = (energy - start)/10;
  parameter Real start(fixed = false);
initial equation
  start = energy;
equation
  connect(world.frame_b, r1.frame_a);
  connect(r1.frame_b, a.frame_a);
  connect(a.frame_b, turn.frame_a);
  connect(turn.frame_b, r2.frame_a);
  connect(r2.frame_b, b.frame_a);
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end M;
