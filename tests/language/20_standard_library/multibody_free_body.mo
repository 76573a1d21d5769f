// 20: Free bodies start with given angles and angular velocities; angles of a free motion describe the same motion.
// expect: apart = 0 at 1 within 1e-7
// expect: body.w_a[1] = -0.216574103 at 1 within 1e-7
// expect: body.a_0[2] = 0 at 1 within 1e-12
// expect: turned = 0 at 0 within 1e-12
model M
  import Modelica.Mechanics.MultiBody;
  inner MultiBody.World world(gravityType = MultiBody.Types.GravityTypes.NoGravity, enableAnimation = false);
  MultiBody.Parts.Body body(m = 2, r_CM = {0, 0, 0}, I_11 = 1, I_22 = 2, I_33 = 3, animation = false,
    r_0(start = {0, 1, 0}, each fixed = true), v_0(each fixed = true), angles_fixed = true,
    angles_start = {0.1, 0.2, 0.3}, w_0_fixed = true, w_0_start = {0, 0, 1});
  MultiBody.Joints.FreeMotion free(r_rel_a(start = {0, 1, 0}, each fixed = true), v_rel_a(each fixed = true),
    angles(start = {0.1, 0.2, 0.3}, each fixed = true));
  MultiBody.Parts.Body carried(m = 2, r_CM = {0, 0, 0}, I_11 = 1, I_22 = 2, I_33 = 3, w_0_fixed = true,
    w_0_start = {0, 0, 1});
  MultiBody.Parts.BodyShape shape(m = 1, r = {1, 0, 0}, r_CM = {0.5, 0, 0}, r_0(each fixed = true),
    v_0(each fixed = true), angles_fixed = true, sequence_start = {3, 1, 2}, angles_start = {0.3, 2.5, -1.2},
    w_0_fixed = true, sphereColor = {255, 0, 0}, shapeType = "box");
  Real apart = sum((body.frame_a.R.T - carried.frame_a.R.T).^2)*1e6;
  Real turned = shape.frame_a.R.T[1, 1] - (cos(0.3)*cos(-1.2) - sin(0.3)*sin(2.5)*sin(-1.2))
    + shape.frame_a.R.T[2, 3] - sin(2.5);
equation
  connect(world.frame_b, free.frame_a);
  connect(free.frame_b, carried.frame_a);
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end M;
