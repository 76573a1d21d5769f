// 20: A prescribed angle, as it is and through its filter; a gear with a housing of its own.
// expect: a.w = 4 at 1 within 1e-6
// expect: b.phi = 1 at 1 within 1e-3
// expect: tau = 0 at 1 within 1e-6
model M
  import Modelica.Mechanics.Rotational.{Components, Sources};
  import Modelica.Blocks;
  Sources.Position exact(exact = true), filtered(f_crit = 20);
  Components.Inertia a(J = 1), b(J = 1);
  Components.IdealGear gear(ratio = 0.5, useSupport = true);
  Components.Fixed housing;
  Blocks.Sources.RealExpression angle(y = time^2), one(y = 1);
  Real tau = housing.flange.tau - gear.flange_a.tau - gear.flange_b.tau;
equation
  connect(angle.y, exact.phi_ref);
  connect(one.y, filtered.phi_ref);
  connect(exact.flange, gear.flange_a);
  connect(gear.flange_b, a.flange_a);
  connect(gear.support, housing.flange);
  connect(filtered.flange, b.flange_a);
end M;
