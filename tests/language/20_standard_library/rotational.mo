// 20: Rotational and translational mechanics: conditional supports and heat ports, friction by modes, lossy gears.
// expect: noSupport.inertia2.w = 1.25 within 1e-5
// expect: withSupport.reaction = 15 within 1e-6
// expect: clutch.w_rel = 0 at 1.9 within 1e-6
// expect: clutch.locked = true at 1.9
// expect: clutch.mode = 0 at 1.9
// expect: clutch.locked = false at 0.2
// expect: clutch.heat.T = 301 at 1.9 within 1e-4
// expect: brake.inertia.w = 0 within 1e-7
// expect: oneWay.driven.w = 1.5 at 0.5 within 1e-4
// expect: oneWay.driven.w = 3 at 1.5 within 1e-4
// expect: lossy.output1.w = 1.2 at 1 within 1e-5
// expect: spring.inertia.phi = 0.5403023058681398 at 1 within 1e-6
// expect: force.mass.s = 1 at 1 within 1e-6
// expect: sensors.a = {2, 3} within 1e-8
// expect: mover.flange.phi = 0.8414709848078965 at 1 within 1e-6
// expect: elasto.rel.phi_rel = 0.5 within 1e-4
within ;
package LibRotational
  package SI
    type Angle = Real(final quantity="Angle", final unit="rad", displayUnit="deg");
    type AngularVelocity = Real(final quantity="AngularVelocity", final unit="rad/s");
    type AngularAcceleration = Real(final quantity="AngularAcceleration", final unit="rad/s2");
    type Inertia = Real(final quantity="MomentOfInertia", final unit="kg.m2");
    type Torque = Real(final quantity="Torque", final unit="N.m");
    type Force = Real(final quantity="Force", final unit="N");
    type Position = Length;
    type Length = Real(final quantity="Length", final unit="m");
    type Distance = Length(min=0);
    type Velocity = Real(final quantity="Velocity", final unit="m/s");
    type Acceleration = Real(final unit="m/s2");
    type Mass = Real(final quantity="Mass", final unit="kg", min=0);
    type Power = Real(final quantity="Power", final unit="W");
    type HeatFlowRate = Real(final quantity="Power", final unit="W");
    type Temperature = Real(final quantity="ThermodynamicTemperature", final unit="K", min=0.0, start=288.15, nominal=300, displayUnit="degC");
    type HeatCapacity = Real(final unit="J/K");
    type RotationalSpringConstant = Real(final unit="N.m/rad");
    type RotationalDampingConstant = Real(final unit="N.m.s/rad");
    type Time = Real(final quantity="Time", final unit="s");
  end SI;

  package Thermal
    partial connector HeatPort
      SI.Temperature T "Port temperature";
      flow SI.HeatFlowRate Q_flow "Heat flow rate (positive if flowing from outside into the component)";
    end HeatPort;
    connector HeatPort_a
      extends HeatPort;
    end HeatPort_a;
    connector HeatPort_b
      extends HeatPort;
    end HeatPort_b;
    model HeatCapacitor
      parameter SI.HeatCapacity C;
      SI.Temperature T(start=293.15, displayUnit="degC");
      HeatPort_a port;
    equation
      T = port.T;
      C*der(T) = port.Q_flow;
    end HeatCapacitor;
    partial model PartialElementaryConditionalHeatPortWithoutT
      parameter Boolean useHeatPort=false "=true, if heatPort is enabled" annotation (Evaluate=true, HideResult=true, choices(checkBox=true));
      HeatPort_a heatPort(final Q_flow=-lossPower) if useHeatPort "Optional port";
      SI.Power lossPower "Loss power";
    end PartialElementaryConditionalHeatPortWithoutT;
  end Thermal;

  package Interfaces
    connector Flange_a "Left flange (filled circle)"
      SI.Angle phi "Absolute rotation angle";
      flow SI.Torque tau;
      annotation (defaultComponentName="flange_a", Icon(graphics={Ellipse(extent={{-100,100},{100,-100}})}));
    end Flange_a;
    connector Flange_b
      SI.Angle phi;
      flow SI.Torque tau;
    end Flange_b;
    connector Support
      SI.Angle phi;
      flow SI.Torque tau;
    end Support;
    model InternalSupport "Adapter to model conditional support"
      input SI.Torque tau "External support torque";
      SI.Angle phi;
      Flange_a flange;
    equation
      flange.tau = tau;
      flange.phi = phi;
    end InternalSupport;
    partial model PartialTwoFlanges
      Flange_a flange_a;
      Flange_b flange_b;
    end PartialTwoFlanges;
    partial model PartialElementaryTwoFlangesAndSupport2
      extends PartialTwoFlanges;
      parameter Boolean useSupport=false annotation (Evaluate=true, HideResult=true, choices(checkBox=true));
      Support support(phi=phi_support, tau=-flange_a.tau - flange_b.tau) if useSupport "Support/housing of component";
    protected
      SI.Angle phi_support "Absolute angle of support flange";
    equation
      if not useSupport then
        phi_support = 0;
      end if;
    end PartialElementaryTwoFlangesAndSupport2;
    partial model PartialTwoFlangesAndSupport
      extends PartialTwoFlanges;
      parameter Boolean useSupport=false annotation (Evaluate=true, HideResult=true);
      Support support if useSupport;
    protected
      Support internalSupport;
      Components.Fixed fixed if not useSupport;
    equation
      connect(support, internalSupport);
      connect(internalSupport, fixed.flange);
    end PartialTwoFlangesAndSupport;
    partial model PartialCompliant
      extends PartialTwoFlanges;
      SI.Angle phi_rel(start=0) "= flange_b.phi - flange_a.phi";
      SI.Torque tau;
    equation
      phi_rel = flange_b.phi - flange_a.phi;
      flange_b.tau = tau;
      flange_a.tau = -tau;
    end PartialCompliant;
    partial model PartialCompliantWithRelativeStates
      SI.Angle phi_rel(start=0, stateSelect=stateSelect, nominal=if phi_nominal >= Const.eps then phi_nominal else 1);
      SI.AngularVelocity w_rel(start=0, stateSelect=stateSelect);
      SI.AngularAcceleration a_rel(start=0);
      SI.Torque tau;
      extends PartialTwoFlanges;
      parameter SI.Angle phi_nominal(displayUnit="rad", min=0.0)=1e-4 annotation (Dialog(tab="Advanced"));
      parameter StateSelect stateSelect=StateSelect.prefer annotation (HideResult=true, Dialog(tab="Advanced"));
    equation
      phi_rel = flange_b.phi - flange_a.phi;
      w_rel = der(phi_rel);
      a_rel = der(w_rel);
      flange_b.tau = tau;
      flange_a.tau = -tau;
    end PartialCompliantWithRelativeStates;
    partial model PartialFriction "Partial model of Coulomb friction elements"
      parameter SI.AngularVelocity w_small=1.0e10 annotation (Dialog(tab="Advanced"));
      SI.AngularVelocity w_relfric "Relative angular velocity between frictional surfaces";
      SI.AngularAcceleration a_relfric;
      SI.Torque tau0 "Friction torque for w=0 and forward sliding";
      SI.Torque tau0_max "Maximum friction torque for w=0 and locked";
      Boolean free "= true, if frictional element is not active";
      Real sa(final unit="1") "Path parameter";
      Boolean startForward(start=false, fixed=true);
      Boolean startBackward(start=false, fixed=true);
      Boolean locked(start=false);
      constant Integer Unknown=3 "Value of mode is not known";
      constant Integer Free=2 "Element is not active";
      constant Integer Forward=1;
      constant Integer Stuck=0;
      constant Integer Backward=-1;
      Integer mode(final min=Backward, final max=Unknown, start=Unknown, fixed=true);
    protected
      constant SI.AngularAcceleration unitAngularAcceleration=1 annotation (HideResult=true);
      constant SI.Torque unitTorque=1 annotation (HideResult=true);
    equation
      startForward = pre(mode) == Stuck and (sa > tau0_max/unitTorque or pre(startForward) and sa > tau0/unitTorque) or pre(mode) == Backward and
        w_relfric > w_small or initial() and (w_relfric > 0);
      startBackward = pre(mode) == Stuck and (sa < -tau0_max/unitTorque or pre(startBackward) and sa < -tau0/unitTorque) or pre(mode) == Forward and
        w_relfric < -w_small or initial() and (w_relfric < 0);
      locked = not free and not (pre(mode) == Forward or startForward or pre(mode) == Backward or startBackward);
      a_relfric/unitAngularAcceleration = if locked then 0 else if free then sa else if startForward then sa - tau0_max/unitTorque else if startBackward
        then sa + tau0_max/unitTorque else if pre(mode) == Forward then sa - tau0_max/unitTorque else sa + tau0_max/unitTorque;
      mode = if free then Free else (if (pre(mode) == Forward or pre(mode) == Free or startForward) and w_relfric > 0 then Forward else if (pre(
        mode) == Backward or pre(mode) == Free or startBackward) and w_relfric < 0 then Backward else Stuck);
    end PartialFriction;
    partial model PartialTorque
      parameter Boolean useSupport=false annotation (Evaluate=true);
      Flange_b flange;
      Support support if useSupport;
    protected
      SI.Angle phi_support;
    equation
    end PartialTorque;
    partial model PartialAbsoluteSensor
      extends Icon;
      Flange_a flange;
      model Icon
      end Icon;
    equation
      0 = flange.tau;
    end PartialAbsoluteSensor;
  end Interfaces;

  package Const
    final constant Real eps=1e-15;
    final constant Real small=1e-60;
  end Const;

  package Components
    model Fixed
      parameter SI.Angle phi0=0;
      Interfaces.Flange_b flange;
    equation
      flange.phi = phi0;
    end Fixed;
    model Inertia
      Interfaces.Flange_a flange_a;
      Interfaces.Flange_b flange_b;
      parameter SI.Inertia J(min=0, start=1) "Moment of inertia";
      parameter StateSelect stateSelect=StateSelect.default annotation (HideResult=true, Dialog(tab="Advanced"));
      SI.Angle phi(stateSelect=stateSelect) annotation (Dialog(group="Initialization", showStartAttribute=true));
      SI.AngularVelocity w(stateSelect=stateSelect);
      SI.AngularAcceleration a;
    equation
      phi = flange_a.phi;
      phi = flange_b.phi;
      w = der(phi);
      a = der(w);
      J*a = flange_a.tau + flange_b.tau;
    end Inertia;
    model Spring
      extends Interfaces.PartialCompliant;
      parameter SI.RotationalSpringConstant c(final min=0, start=1.0e5);
      parameter SI.Angle phi_rel0=0;
    equation
      tau = c*(phi_rel - phi_rel0);
    end Spring;
    model ElastoBacklash
      parameter SI.RotationalSpringConstant c(final min=Const.small, start=1.0e5);
      parameter SI.RotationalDampingConstant d(final min=0)=0;
      parameter SI.Angle b(final min=0)=0;
      extends Interfaces.PartialCompliantWithRelativeStates;
      extends Thermal.PartialElementaryConditionalHeatPortWithoutT;
    protected
      final parameter SI.Angle bMax=b/2;
      SI.Torque tau_c, tau_d;
      SI.Angle phi_diff=phi_rel;
    equation
      if initial() then
        tau_c = if phi_diff > 1.5*bMax then c*(phi_diff - bMax) else if phi_diff < -1.5*bMax then c*(phi_diff + bMax) else if phi_diff < -0.5*bMax
          then -bMax*c*(phi_diff + 0.5*bMax)/(1.5*bMax) else if phi_diff > 0.5*bMax then bMax*c*(phi_diff - 0.5*bMax)/(1.5*bMax) else 0;
        tau_d = d*w_rel;
        tau = tau_c + tau_d;
        lossPower = tau_d*w_rel;
      else
        tau_c = if abs(phi_diff) <= bMax then 0 else c*(phi_diff - sign(phi_diff)*bMax);
        tau_d = d*w_rel;
        tau = smooth(0, noEvent(if abs(phi_diff) <= bMax then 0 else if phi_diff > bMax then smooth(0, noEvent(if tau_c + tau_d <= 0 then 0 else tau_c +
          min(tau_c, tau_d))) else smooth(0, noEvent(if tau_c + tau_d >= 0 then 0 else tau_c + max(tau_c, tau_d)))));
        lossPower = if noEvent(abs(phi_diff) <= bMax) then 0 else tau_d*w_rel;
      end if;
    end ElastoBacklash;
    model IdealGear
      extends Interfaces.PartialElementaryTwoFlangesAndSupport2;
      parameter Real ratio(start=1);
      SI.Angle phi_a, phi_b;
    equation
      phi_a = flange_a.phi - phi_support;
      phi_b = flange_b.phi - phi_support;
      phi_a = ratio*phi_b;
      0 = ratio*flange_a.tau + flange_b.tau;
    end IdealGear;
    model Clutch
      extends Interfaces.PartialFriction;
      extends Thermal.PartialElementaryConditionalHeatPortWithoutT;
      extends Interfaces.PartialCompliantWithRelativeStates;
      parameter Real mu_pos[:, 2]=[0, 0.5] "Friction table";
      parameter Real peak(final min=1)=1;
      parameter Real cgeo(final min=0)=1;
      parameter SI.Force fn_max(final min=0, start=1);
      Real mue0;
      SI.Force fn;
      input Real f_normalized;
    equation
      mue0 = tableValue(mu_pos, 0);
      w_relfric = w_rel;
      a_relfric = a_rel;
      fn = fn_max*f_normalized;
      free = fn <= 0;
      tau0 = mue0*cgeo*fn;
      tau0_max = peak*tau0;
      tau/unitTorque = if locked then sa else if free then 0 else cgeo*fn*(if startForward then tableValue(mu_pos, w_rel) else if startBackward
        then -tableValue(mu_pos, -w_rel) else if pre(mode) == Forward then tableValue(mu_pos, w_rel) else -tableValue(mu_pos, -w_rel));
      lossPower = tau*w_relfric;
    end Clutch;
    function tableValue "Value of a friction table"
      input Real table[:, 2];
      input Real w;
      output Real mu;
    algorithm
      if size(table, 1) == 1 then
        mu := table[1, 2];
      else
        mu := table[1, 2] + (table[2, 2] - table[1, 2])*w/(table[2, 1] - table[1, 1]);
      end if;
    end tableValue;
    model Brake
      extends Interfaces.PartialElementaryTwoFlangesAndSupport2;
      extends Interfaces.PartialFriction(w_small=1e-3);
      extends Thermal.PartialElementaryConditionalHeatPortWithoutT;
      parameter SI.Torque tau_max=1;
      SI.Angle phi;
      SI.Torque tau;
      SI.AngularVelocity w;
      SI.AngularAcceleration a;
    equation
      phi = flange_a.phi - phi_support;
      flange_b.phi = flange_a.phi;
      w = der(phi);
      a = der(w);
      w_relfric = w;
      a_relfric = a;
      flange_a.tau + flange_b.tau - tau = 0;
      tau0 = tau_max;
      tau0_max = tau_max;
      free = false;
      tau/unitTorque = if locked then sa else tau_max/unitTorque*(if startForward then 1 else if startBackward then -1 else if pre(mode) == Forward then 1 else -1);
      lossPower = tau*w_relfric;
    end Brake;
    model OneWayClutch
      extends Interfaces.PartialCompliantWithRelativeStates;
      Boolean startForward(start=false);
      Boolean stuck(final start=false);
      Real u(final unit="1") "Path parameter";
    protected
      Boolean locked;
      constant SI.AngularAcceleration unitAngularAcceleration=1;
      constant SI.Torque unitTorque=1;
    equation
      startForward = pre(stuck) and (u > 0 or pre(startForward) and u > 0) or initial() and w_rel > 0;
      locked = pre(stuck) and not startForward;
      a_rel = unitAngularAcceleration*(if locked then 0 else u);
      tau = unitTorque*(if locked then u else 0);
      stuck = locked or w_rel <= 0;
    end OneWayClutch;
    model LossyGear "Gear with efficiencies and bearing friction, forwards only"
      extends Interfaces.PartialElementaryTwoFlangesAndSupport2;
      extends Thermal.PartialElementaryConditionalHeatPortWithoutT;
      parameter Real ratio(start=1);
      parameter Real lossTable[:, 5]=[0, 1, 1, 0, 0] "Array for mesh efficiencies and bearing friction";
      SI.Angle phi_a;
      Real eta_mf1, eta_mf2, tau_bf_a, tau_bf_b;
    protected
      final parameter Boolean ideal=isEqual(lossTable, [0, 1, 1, 0, 0], Const.eps);
      Real interpolation_result[1, 4];
      SI.AngularVelocity w_a;
      Boolean tauPos;
    equation
      phi_a = flange_a.phi - phi_support;
      phi_a = ratio*(flange_b.phi - phi_support);
      w_a = der(phi_a);
      if not ideal then
        interpolation_result = [interpolate(lossTable[:, 1], lossTable[:, 2], noEvent(abs(w_a))), interpolate(lossTable[:, 1], lossTable[:, 3], noEvent(
          abs(w_a))), interpolate(lossTable[:, 1], lossTable[:, 4], noEvent(abs(w_a))), interpolate(lossTable[:, 1], lossTable[:, 5], noEvent(abs(w_a)))];
        eta_mf1 = interpolation_result[1, 1];
        eta_mf2 = interpolation_result[1, 2];
        tau_bf_a = abs(interpolation_result[1, 3]);
        tau_bf_b = abs(interpolation_result[1, 4]);
      else
        interpolation_result = [1, 1, 0, 0];
        eta_mf1 = 1;
        eta_mf2 = 1;
        tau_bf_a = 0;
        tau_bf_b = 0;
      end if;
      tauPos = flange_a.tau >= 0;
      0 = flange_b.tau + ratio*(if tauPos then eta_mf1*flange_a.tau else flange_a.tau/eta_mf2) - ratio*tau_bf_a;
      lossPower = flange_a.tau*w_a + flange_b.tau*w_a/ratio;
    end LossyGear;
  end Components;
  function isEqual
    input Real M1[:, :];
    input Real M2[:, :];
    input Real eps(min=0)=0;
    output Boolean result;
  protected
    Integer nrow=size(M1, 1);
    Integer ncol=size(M1, 2);
    Integer i=1;
    Integer j;
  algorithm
    result := false;
    if size(M2, 1) == nrow and size(M2, 2) == ncol then
      result := true;
      while i <= nrow loop
        j := 1;
        while j <= ncol loop
          if abs(M1[i, j] - M2[i, j]) > eps then
            result := false;
            i := nrow;
            j := ncol;
          end if;
          j := j + 1;
        end while;
        i := i + 1;
      end while;
    end if;
  end isEqual;
  function interpolate
    input Real x[:];
    input Real y[size(x, 1)];
    input Real xi;
    input Integer iLast=1;
    output Real yi;
    output Integer iNew=1;
  protected
    Integer i;
    Integer nx=size(x, 1);
  algorithm
    if nx == 1 then
      yi := y[1];
    else
      i := min(max(iLast, 1), nx - 1);
      while i < nx and xi >= x[min(i + 1, nx)] loop
        i := i + 1;
      end while;
      i := min(i, nx - 1);
      yi := y[i] + (y[i + 1] - y[i])*(xi - x[i])/(x[i + 1] - x[i]);
      iNew := i;
    end if;
  end interpolate;

  package Sources
    model Torque
      extends Interfaces.PartialTorque;
      input Real tau annotation (Placement(transformation(extent={{-140,-20},{-100,20}})));
    equation
      flange.tau = -tau;
      if not useSupport then
        phi_support = 0;
      end if;
    end Torque;
    model Position
      parameter Boolean exact=false annotation (Evaluate=true);
      parameter Real f_crit=50 annotation (Dialog(enable=not exact));
      input Real phi_ref;
      Interfaces.Flange_b flange;
      SI.AngularVelocity w(start=0, stateSelect=if exact then StateSelect.default else StateSelect.prefer);
    protected
      parameter Real w_crit=2*3.14*f_crit;
      parameter Real af=1.3617;
      SI.AngularAcceleration a(start=0);
    initial equation
      if not exact then
        flange.phi = phi_ref;
      end if;
    equation
      w = der(flange.phi);
      a = der(w);
      if exact then
        flange.phi = phi_ref;
      else
        a = ((phi_ref - flange.phi)*w_crit - af*w)*w_crit;
      end if;
    end Position;
  end Sources;

  package Sensors
    model MultiSensor
      extends Interfaces.PartialTwoFlanges;
      output Real power(unit="W");
      output Real w(unit="rad/s");
      output Real tau(unit="N.m");
    equation
      flange_a.phi = flange_b.phi;
      w = der(flange_a.phi);
      tau = flange_a.tau;
      0 = flange_a.tau + flange_b.tau;
      power = flange_a.tau*w;
    end MultiSensor;
  end Sensors;
end LibRotational;

package TranslationalLike
  import LibRotational.SI;
  connector Flange
    SI.Position s;
    flow SI.Force f;
  end Flange;
  partial model PartialRigid
    SI.Position s(start=0, stateSelect=stateSelect);
    parameter SI.Length L(start=0)=0;
    parameter StateSelect stateSelect=StateSelect.default;
    Flange flange_a, flange_b;
  equation
    flange_a.s = s - L/2;
    flange_b.s = s + L/2;
  end PartialRigid;
  model Mass
    parameter SI.Mass m(min=0, start=1);
    extends PartialRigid(L=0, s(start=0, fixed=true));
    SI.Velocity v(start=0, fixed=true, stateSelect=stateSelect);
    SI.Acceleration a(start=0);
  equation
    v = der(s);
    a = der(v);
    m*a = flange_a.f + flange_b.f;
  end Mass;
  model Force
    input SI.Force f;
    Flange flange;
  equation
    flange.f = -f;
  end Force;
end TranslationalLike;

model RotationalTest
  import LibRotational.*;
  model GearTrain
    parameter Boolean fixedHousing=true;
    Components.Inertia inertia1(J=1, phi(fixed=true), w(fixed=true)), inertia2(J=2);
    Components.IdealGear gear(ratio=2, useSupport=not fixedHousing);
    Sources.Torque drive(tau=15);
    Components.Fixed housing if not fixedHousing;
    Real reaction=if fixedHousing then 0 else gear.flange_a.tau*3;
  equation
    connect(drive.flange, inertia1.flange_a);
    connect(inertia1.flange_b, gear.flange_a);
    connect(gear.flange_b, inertia2.flange_a);
    connect(gear.support, housing.flange);
  end GearTrain;
  GearTrain noSupport(drive(tau=inertia2Torque)), withSupport(fixedHousing=false);
  parameter Real inertia2Torque=1.875;
  model ClutchTest
    Components.Inertia fast(J=1, phi(fixed=true, start=0), w(fixed=true, start=20), stateSelect=StateSelect.prefer), slow(J=1, phi(fixed=true), w(fixed=true));
    Components.Clutch clutch(fn_max=40, useHeatPort=true, f_normalized=if time < 0.5 then 0 else 1, stateSelect=StateSelect.never);
    Thermal.HeatCapacitor heat(C=100, T(start=300, fixed=true));
    Real w_rel=clutch.w_rel;
    Boolean locked=clutch.locked;
    Integer mode=clutch.mode;
  equation
    connect(fast.flange_b, clutch.flange_a);
    connect(clutch.flange_b, slow.flange_a);
    connect(clutch.heatPort, heat.port);
  end ClutchTest;
  ClutchTest clutch;
  model BrakeTest
    Components.Inertia inertia(J=1, phi(fixed=true), w(fixed=true, start=1));
    Components.Brake brake(tau_max=2);
  equation
    connect(inertia.flange_b, brake.flange_a);
  end BrakeTest;
  BrakeTest brake;
  model OneWayTest
    Components.Inertia driver(J=1, phi(fixed=true), w(fixed=true)), driven(J=1, phi(fixed=true), w(fixed=true));
    Components.OneWayClutch clutch(stateSelect=StateSelect.never);
    Sources.Torque drive(tau=if time < 1 then 6 else -6);
  equation
    connect(drive.flange, driver.flange_a);
    connect(driver.flange_b, clutch.flange_a);
    connect(clutch.flange_b, driven.flange_a);
  end OneWayTest;
  OneWayTest oneWay;
  model LossyTest
    Components.Inertia input1(J=1e-9), output1(J=1, phi(fixed=true), w(fixed=true));
    Components.LossyGear gear(ratio=2, lossTable=[0, 0.8, 0.8, 0.25, 0; 100, 0.8, 0.8, 0.25, 0], useHeatPort=false);
    Sources.Torque drive(tau=1.0625);
  equation
    connect(drive.flange, input1.flange_a);
    connect(input1.flange_b, gear.flange_a);
    connect(gear.flange_b, output1.flange_a);
  end LossyTest;
  LossyTest lossy;
  model SpringTest
    Components.Inertia inertia(J=1, phi(fixed=true, start=1), w(fixed=true));
    Components.Spring spring(c=1);
    Components.Fixed fixed;
  equation
    connect(fixed.flange, spring.flange_a);
    connect(spring.flange_b, inertia.flange_a);
  end SpringTest;
  SpringTest spring;
  model ForceTest
    TranslationalLike.Mass mass(m=2, L=0.5);
    TranslationalLike.Force force(f=4);
  equation
    connect(force.flange, mass.flange_b);
  end ForceTest;
  ForceTest force;
  model SensorTest
    Components.Inertia inertia[2](J={1, 2}, each phi(fixed=true), each w(fixed=true));
    Sensors.MultiSensor sensor[2];
    Sources.Torque drive[2](tau={2, 6});
    output Real a[2]=inertia.a;
  equation
    connect(drive.flange, sensor.flange_a);
    connect(sensor.flange_b, inertia.flange_a);
  end SensorTest;
  SensorTest sensors;
  Sources.Position mover(exact=true, phi_ref=sin(time));
  model BacklashTest
    Components.Inertia inertia(J=1, phi(fixed=true, start=0.2), w(fixed=true));
    Components.ElastoBacklash rel(c=100, d=20, b=0.8, phi_rel(start=0.2));
    Components.Fixed fixed;
    Sources.Torque drive(tau=10);
  equation
    connect(fixed.flange, rel.flange_a);
    connect(rel.flange_b, inertia.flange_a);
    connect(drive.flange, inertia.flange_b);
  end BacklashTest;
  BacklashTest elasto;
  annotation (experiment(StopTime=2, Tolerance=1e-9));
end RotationalTest;
