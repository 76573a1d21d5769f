// 20: A library of heat transfer, written as that of the standard is: vectors of ports, a collector, connectorSizing, enumerations that decide the structure, constrained records of material, final each.
// expect: rod.T[2] = 340 within 1e-6
// expect: collector.port_b.Q_flow = -40 within 1e-5
// expect: convection.Q_flow = 40 within 1e-5
// expect: sensors.u = {400, 370, 340, 310, 250} within 1e-5
// expect: sensors.y = 1670 within 1e-5
// expect: bus.outside.T = 250 within 1e-5
package Heat
  type Kind = enumeration(Conduction "through a solid", Convection "at a surface", Ideal "none");
  record Material
    parameter Real d = 1000;
    parameter Real c = 500;
    parameter Real lambda = 1;
  end Material;
  record Copper
    extends Material(d = 8900, final lambda = 400);
  end Copper;
  partial connector HeatPort
    Real T(start = 293.15);
    flow Real Q_flow;
  end HeatPort;
  connector HeatPort_a
    extends HeatPort;
  end HeatPort_a;
  connector HeatPort_b
    extends HeatPort;
  end HeatPort_b;
  partial model Element1D
    Real Q_flow, dT;
    HeatPort_a port_a;
    HeatPort_b port_b;
  equation
    dT = port_a.T - port_b.T;
    port_a.Q_flow = Q_flow;
    port_b.Q_flow = -Q_flow;
  end Element1D;
  model Resistance
    extends Element1D;
    parameter Kind kind = Kind.Conduction annotation(Evaluate = true);
    parameter Real G = 1 annotation(Dialog(enable = kind == Kind.Conduction));
    input Real Gc = 1;
  equation
    if kind == Kind.Conduction then
      Q_flow = G*dT;
    elseif kind == Kind.Convection then
      Q_flow = Gc*dT;
    else
      dT = 0;
    end if;
  end Resistance;
  model Collector
    parameter Integer m(min = 1) = 3;
    HeatPort_a port_a[m];
    HeatPort_b port_b;
  equation
    port_b.Q_flow + sum(port_a.Q_flow) = 0;
    port_a.T = fill(port_b.T, m);
  end Collector;
  model Fixed
    parameter Real T = 300;
    HeatPort_b port;
  equation
    port.T = T;
  end Fixed;
  model Capacitor
    parameter Real C = 1;
    Real T(start = 293.15, displayUnit = "degC");
    HeatPort_a port;
  equation
    T = port.T;
    C*der(T) = port.Q_flow;
  end Capacitor;
  model Rod
    replaceable parameter Copper material constrainedby Material annotation(choicesAllMatching = true);
    parameter Integer n = 5;
    parameter Real length = 1, A = 1e-2;
    HeatPort_a port_a;
    HeatPort_b port_b;
    parameter Boolean open = true "whether the sides are ports";
    HeatPort_a side[n] if open;
    Real T[n] = capacitor.T;
    Capacitor capacitor[n](each final C = 1e-9*material.d*material.c*A*length/n, each T(start = 300, fixed = true));
  protected
    Resistance[n + 1] element(each final kind = Kind.Conduction,
      each final G = material.lambda*A/(length/(n + 1)));
  equation
    connect(port_a, element[1].port_a);
    for i in 1:n loop
      connect(element[i].port_b, element[i + 1].port_a);
      connect(element[i].port_b, capacitor[i].port);
    end for;
    connect(capacitor.port, side);
    connect(element[n + 1].port_b, port_b);
  end Rod;
  block Sum
    parameter Integer nu(min = 0) = 0 annotation(Dialog(connectorSizing = true), HideResult = true);
    input Real u[nu];
    output Real y;
  equation
    y = sum(u);
  end Sum;
  expandable connector Bus
  end Bus;
  connector RealOutput = output Real;
end Heat;
model M
  import Heat.*;
  model Half
    extends Rod(n = 3, redeclare Material material(lambda = 100));
  end Half;
  Fixed hot(T = 400), outside(T = 250);
  Half rod(final A = 1/300);
  Collector collector(m = 2);
  Resistance convection(kind = Kind.Convection, Gc = 4/3);
  Resistance ideal(kind = Kind.Ideal);
  Sum sensors(nu = 5, u = {hot.port.T, rod.T[1], rod.T[2], rod.T[3], outside.port.T});
  model Outside
    RealOutput T = 250;
  end Outside;
  Outside weather;
  Bus bus;
equation
  connect(hot.port, rod.port_a);
  connect(rod.port_b, collector.port_a[1]);
  connect(ideal.port_a, collector.port_a[2]);
  connect(collector.port_b, convection.port_a);
  connect(convection.port_b, outside.port);
  connect(weather.T, bus.outside.T);
end M;
