// 20: Electrical: one-ports, conditional heat ports with their temperature, ideal switches by a path parameter, plugs.
// expect: rc.capacitor.v = 0.6321205588285577 at 1 within 1e-6
// expect: heated.resistor.R_actual = 20 within 1e-6
// expect: heated.resistor.i = 0.5 within 1e-6
// expect: diode.load.v = 1 at 0.25 within 1e-3
// expect: diode.load.v = 0 at 0.75 within 1e-3
// expect: switched.load.i = 0 at 0.3 within 1e-3
// expect: switched.load.i = 1 at 0.8 within 1e-3
// expect: star.source.plug.pin[1].v = 0 at 1 within 1e-6
// expect: star.iN = 0 within 1e-9
// expect: star.resistor.i[2] = -0.8660254037844386 at 1 within 1e-6
// expect: star.power = 1.5 at 1 within 1e-6
// expect: twoPort.v2 = 4
package LibElectrical
  package SI
    type Voltage = Real(final quantity="ElectricPotential", final unit="V");
    type Current = Real(final quantity="ElectricCurrent", final unit="A");
    type Resistance = Real(final quantity="Resistance", final unit="Ohm");
    type Conductance = Real(final unit="S");
    type Capacitance = Real(final unit="F", min=0);
    type Temperature = Real(final unit="K", min=0, start=288.15, nominal=300, displayUnit="degC");
    type Power = Real(final unit="W");
    type LinearTemperatureCoefficient = Real(final unit="1/K");
    type Angle = Real(final unit="rad");
  end SI;
  package Interfaces
    connector Pin "Pin of an electrical component"
      SI.Voltage v "Potential at the pin" annotation (unassignedMessage="The potential of a pin is not determined");
      flow SI.Current i;
    end Pin;
    connector PositivePin
      SI.Voltage v;
      flow SI.Current i;
      annotation (defaultComponentName="pin_p");
    end PositivePin;
    connector NegativePin
      SI.Voltage v;
      flow SI.Current i;
    end NegativePin;
    connector HeatPort
      SI.Temperature T;
      flow SI.Power Q_flow;
    end HeatPort;
    partial model TwoPin
      SI.Voltage v;
      PositivePin p;
      NegativePin n;
    equation
      v = p.v - n.v;
    end TwoPin;
    partial model OnePort
      extends TwoPin;
      SI.Current i;
    equation
      0 = p.i + n.i;
      i = p.i;
    end OnePort;
    partial model TwoPort
      SI.Voltage v1, v2;
      SI.Current i1, i2;
      PositivePin p1, p2;
      NegativePin n1, n2;
    equation
      v1 = p1.v - n1.v;
      v2 = p2.v - n2.v;
      0 = p1.i + n1.i;
      0 = p2.i + n2.i;
      i1 = p1.i;
      i2 = p2.i;
    end TwoPort;
    partial model ConditionalHeatPort
      parameter Boolean useHeatPort=false annotation (Evaluate=true, HideResult=true, choices(checkBox=true));
      parameter SI.Temperature T=293.15 annotation (Dialog(enable=not useHeatPort));
      HeatPort heatPort(T(start=T) = T_heatPort, Q_flow=-LossPower) if useHeatPort;
      SI.Power LossPower;
      SI.Temperature T_heatPort;
    equation
      if not useHeatPort then
        T_heatPort = T;
      end if;
    end ConditionalHeatPort;
    connector Plug "Plug with m pins"
      parameter Integer m(final min=1) = 3 annotation (Dialog(connectorSizing=false));
      Pin pin[m];
    end Plug;
  end Interfaces;
  package Basic
    model Ground
      Interfaces.Pin p;
    equation
      p.v = 0;
    end Ground;
    model Resistor
      parameter SI.Resistance R(start=1);
      parameter SI.Temperature T_ref=300.15;
      parameter SI.LinearTemperatureCoefficient alpha=0;
      extends Interfaces.OnePort;
      extends Interfaces.ConditionalHeatPort(T=T_ref);
      SI.Resistance R_actual;
    equation
      assert((1 + alpha*(T_heatPort - T_ref)) >= 1e-15, "Temperature outside scope of model!");
      R_actual = R*(1 + alpha*(T_heatPort - T_ref));
      v = R_actual*i;
      LossPower = v*i;
    end Resistor;
    model Capacitor
      extends Interfaces.OnePort(v(start=0));
      parameter SI.Capacitance C(start=1);
    equation
      i = C*der(v);
    end Capacitor;
    model VCV
      extends Interfaces.TwoPort;
      parameter Real gain(start=1);
    equation
      v2 = v1*gain;
      i1 = 0;
    end VCV;
  end Basic;
  package Ideal
    partial model IdealSemiconductor
      extends Interfaces.OnePort;
      parameter SI.Resistance Ron(final min=0) = 1e-5;
      parameter SI.Conductance Goff(final min=0) = 1e-5;
      parameter SI.Voltage Vknee(final min=0, start=0);
      Boolean off(start=true) "Switching state";
    protected
      Real s(start=0, final unit="1") "Path parameter";
      constant SI.Voltage unitVoltage=1 annotation (HideResult=true);
      constant SI.Current unitCurrent=1 annotation (HideResult=true);
    equation
      v = (s*unitCurrent)*(if off then 1 else Ron) + Vknee;
      i = (s*unitVoltage)*(if off then Goff else 1) + Goff*Vknee;
    end IdealSemiconductor;
    model IdealDiode
      extends IdealSemiconductor(v(start=0), Vknee=0);
    equation
      off = s < 0;
    end IdealDiode;
    model IdealClosingSwitch
      extends Interfaces.OnePort;
      parameter SI.Resistance Ron=1e-5;
      parameter SI.Conductance Goff=1e-5;
      input Boolean control;
    protected
      Real s(final unit="1");
      constant SI.Voltage unitVoltage=1;
      constant SI.Current unitCurrent=1;
    equation
      v = (s*unitCurrent)*(if control then Ron else 1);
      i = (s*unitVoltage)*(if control then 1 else Goff);
    end IdealClosingSwitch;
  end Ideal;
  package Sources
    partial model VoltageSource
      extends Interfaces.OnePort;
      parameter SI.Voltage offset=0;
      replaceable input Real signal "Voltage over time";
    equation
      v = offset + signal;
    end VoltageSource;
    model ConstantVoltage
      parameter SI.Voltage V(start=1);
      extends Interfaces.OnePort;
    equation
      v = V;
    end ConstantVoltage;
    model SineVoltage
      parameter SI.Voltage V=1;
      parameter SI.Angle phase=0;
      parameter Real f(unit="Hz") = 1;
      extends VoltageSource(redeclare SI.Voltage signal=V*sin(6.283185307179586*f*time + phase));
    end SineVoltage;
  end Sources;
  package Polyphase
    partial model TwoPlug
      parameter Integer m(final min=1) = 3;
      SI.Voltage v[m] = plug_p.pin.v - plug_n.pin.v;
      SI.Current i[m] = plug_p.pin.i;
      Interfaces.Plug plug_p(final m=m), plug_n(final m=m);
    end TwoPlug;
    model Resistor
      extends TwoPlug;
      parameter SI.Resistance R[m](start=fill(1, m));
      parameter SI.Temperature T_ref[m]=fill(300.15, m);
      LibElectrical.Basic.Resistor resistor[m](final R=R, final T_ref=T_ref);
    equation
      connect(plug_p.pin, resistor.p);
      connect(resistor.n, plug_n.pin);
    end Resistor;
    model Star
      parameter Integer m(final min=1) = 3;
      Interfaces.Plug plug_p(final m=m);
      Interfaces.NegativePin pin_n;
    equation
      for j in 1:m loop
        connect(plug_p.pin[j], pin_n);
      end for;
    end Star;
    model SineSource
      parameter Integer m=3;
      parameter SI.Voltage V[m]=fill(1, m);
      parameter SI.Angle phase[m]=-symmetric(m);
      Sources.SineVoltage source[m](final V=V, final phase=phase, each f=1);
      Interfaces.Plug plug(final m=m);
      Interfaces.NegativePin pin_n;
    equation
      connect(source.p, plug.pin);
      for j in 1:m loop
        connect(source[j].n, pin_n);
      end for;
    end SineSource;
    function symmetric
      input Integer m;
      output Real phi[m];
    algorithm
      for k in 1:m loop
        phi[k] := (k - 1)*6.283185307179586/m;
      end for;
    end symmetric;
  end Polyphase;
end LibElectrical;
model ElectricalTest
  import LibElectrical.*;
  model RC
    Sources.ConstantVoltage source(V=1);
    Basic.Resistor resistor(R=1);
    Basic.Capacitor capacitor(C=1, v(fixed=true));
    Basic.Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
  end RC;
  RC rc;
  model HeatSource
    Interfaces.HeatPort port;
  equation
    port.T = 400.15;
  end HeatSource;
  model Heated
    Sources.ConstantVoltage source(V=10);
    Basic.Resistor resistor(R=10, alpha=0.01, useHeatPort=true);
    HeatSource heat;
    Basic.Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, source.n);
    connect(source.n, ground.p);
    connect(heat.port, resistor.heatPort);
  end Heated;
  Heated heated;
  model Rectifier
    Sources.SineVoltage source;
    Ideal.IdealDiode diode;
    Basic.Resistor load(R=1);
    Basic.Ground ground;
  equation
    connect(source.p, diode.p);
    connect(diode.n, load.p);
    connect(load.n, source.n);
    connect(source.n, ground.p);
  end Rectifier;
  Rectifier diode;
  model Switched
    Sources.ConstantVoltage source(V=1);
    Ideal.IdealClosingSwitch switch(control=time > 0.5);
    Basic.Resistor load(R=1);
    Basic.Ground ground;
  equation
    connect(source.p, switch.p);
    connect(switch.n, load.p);
    connect(load.n, source.n);
    connect(source.n, ground.p);
  end Switched;
  Switched switched;
  model StarTest
    Polyphase.SineSource source;
    Polyphase.Resistor resistor(R=fill(1, 3));
    Polyphase.Star star;
    Basic.Ground ground;
    Real iN=sum(resistor.i);
    Real power=resistor.v*resistor.i;
  equation
    connect(source.plug, resistor.plug_p);
    connect(resistor.plug_n, star.plug_p);
    connect(star.pin_n, ground.p);
    connect(source.pin_n, ground.p);
  end StarTest;
  StarTest star;
  model Amplifier
    Sources.ConstantVoltage source(V=2);
    Basic.VCV vcv(gain=2);
    Basic.Resistor load(R=1);
    Basic.Ground ground;
    Real v2=load.v;
  equation
    connect(source.p, vcv.p1);
    connect(source.n, vcv.n1);
    connect(vcv.p2, load.p);
    connect(vcv.n2, load.n);
    connect(source.n, ground.p);
    connect(vcv.n2, ground.p);
  end Amplifier;
  Amplifier twoPort;
  annotation (experiment(StopTime=1, Tolerance=1e-8));
end ElectricalTest;
