// 20: A revolute joint with a drive turns a body about the vertical: J*der(w) = tau with J = I_22 + m*(r/2)^2; a driven slide.
// expect: joint.phi = 1.5 at 1 within 1e-6
// expect: joint.a = 3 at 1 within 1e-6
// expect: joint.tau = 3 at 1 within 1e-9
// expect: slide.s = 0.27015115293406985 at 1 within 1e-5
// expect: ball.frame_a.r_0 = {0, -4.905, 0} at 1 within 1e-6
model M
  import Modelica.Mechanics.{MultiBody, Rotational, Translational};
  inner MultiBody.World world(g = 9.81);
  MultiBody.Joints.Revolute joint(useAxisFlange = true, n = {0, 1, 0}, phi(fixed = true), w(fixed = true));
  MultiBody.Parts.BodyShape arm(r = {1, 0, 0}, r_CM = {0.5, 0, 0}, m = 2, I_11 = 0.5, I_22 = 0.5, I_33 = 0.5);
  Rotational.Sources.ConstantTorque torque(tau_constant = 3);
  MultiBody.Joints.Prismatic slide(useAxisFlange = true, n = {1, 0, 0}, s(start = 0.5, fixed = true), v(fixed = true));
  MultiBody.Parts.Body load(m = 4, r_CM = {0, 0, 0});
  Translational.Components.Spring spring(c = 4, s_rel0 = 0);
  MultiBody.Parts.PointMass ball(r_0(start = {0, 0, 0}, each fixed = true), v_0(start = {0, 0, 0}, each fixed = true));
equation
  connect(world.frame_b, joint.frame_a);
  connect(joint.frame_b, arm.frame_a);
  connect(torque.flange, joint.axis);
  connect(world.frame_b, slide.frame_a);
  connect(slide.frame_b, load.frame_a);
  connect(spring.flange_a, slide.support);
  connect(spring.flange_b, slide.axis);
  annotation(experiment(Tolerance = 1e-9));
end M;
