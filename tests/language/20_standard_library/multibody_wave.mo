// 20: A row of pendulums on strings without mass, as courses draw them: each swings with its own period.
// expect: swing[1].joint.phi = 0.1 at 1.9 within 2e-6
// expect: swing[3].joint.phi = 0.1 at 1.9 within 2e-6
model M
  import Modelica.Constants.g_n;
  import Modelica.Constants.pi;
  model Swing "a point mass on a string"
    import Modelica.Mechanics.MultiBody.*;
    import SI = Modelica.SIunits;
    parameter SI.Position z "place along the row";
    parameter SI.Length L "length of the string";
    parameter SI.Diameter d = 0.01 "of the string";
    Parts.Fixed ground(r = {0, 0, z}, animation = false);
    Parts.PointMass ball(m = 1, sphereDiameter = 5*d);
    Parts.BodyCylinder string(density = 0, r = {0, L, 0}, diameter = d);
    Joints.Revolute joint(phi(fixed = true, start = 0.1), w(fixed = true), cylinderDiameter = d/2, animation = false);
  equation
    connect(string.frame_a, ball.frame_a);
    connect(joint.frame_b, ground.frame_b);
    connect(joint.frame_a, string.frame_b);
  end Swing;
  // The series of the complete elliptic integral; swing i makes i + 1 periods within 1.9 s.
  constant Real slow = 1 + 0.1^2/16 + 11*0.1^4/3072;
  Swing swing[3](z = linspace(0, 0.1, 3), L = {g_n*(1.9/(2*pi*(i + 1)*slow))^2 for i in 1:3});
  inner Modelica.Mechanics.MultiBody.World world(g = g_n, label1 = "X", axisLength = 0.2);
  annotation(experiment(StopTime = 1.9, Tolerance = 1e-9));
end M;
