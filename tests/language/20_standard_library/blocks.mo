// 20: Blocks: partial blocks with vectors of signals, nested replaceable types, conditional inputs, tables.
// expect: step.y = 2.5
// expect: sum3.y = 9
// expect: firstOrder.y = 1.7293294335267746 at 2 within 1e-5
// expect: integ.y = 0.5 at 2 within 1e-5
// expect: integ2.y = 3 at 2 within 1e-5
// expect: pid.y = 3.5 at 0.5 within 1e-5
// expect: mux.y = {1, 2, 3, 4}
// expect: gains[3].y = 6
// expect: matrixGain.y = {14, 32}
// expect: table.y = 15 within 1e-9
// expect: table2.y = {40, 1} within 1e-9
// expect: expr.y = 8
// expect: hysteresis.y = true at 0.7
// expect: hysteresis.y = true at 1.1
// expect: hysteresis.y = false at 1.6
// expect: hysteresis.y = true at 2.2
// expect: timer.y = 0.6 at 1.5 within 1e-8
// expect: counter.y = 2
// expect: rs.q = true at 0.9
// expect: rs.q = false at 1.1
// expect: ss.y = {-2.5284822353142306} at 1 within 1e-5
// expect: tf.y = 0.2642411176571153 at 1 within 1e-5
// expect: nonlinear.y = 8
// expect: filter.y = 0.8646647167633873 at 1 within 1e-5
// expect: limiter.y = 1
// expect: limiterFollow.y = 4
within ;
package LibBlocks "Signals, written as libraries write them"
  extends Icons.Package;
  package Icons
    extends Icons.Package;
    partial package Package "A package"
      annotation (Icon(coordinateSystem(preserveAspectRatio=false, extent={{-100,-100},{100,100}}), graphics={
            Rectangle(
              lineColor={200,200,200},
              fillColor={248,248,248},
              fillPattern=FillPattern.HorizontalCylinder,
              extent={{-100.0,-100.0},{100.0,100.0}},
              radius=25.0)}), Documentation(info="<html>
<p>A \"package\".</p>
</html>"));
    end Package;
    partial block Block "A block"
      annotation (Icon(graphics={Text(extent={{-150,150},{150,110}}, textString="%name", textColor={0,0,255})}));
    end Block;
  end Icons;

  package Interfaces
    connector RealInput = input Real "'input Real' as connector" annotation (
      defaultComponentName="u",
      Icon(graphics={Polygon(points={{-100.0,100.0},{100.0,0.0},{-100.0,-100.0}}, fillPattern=FillPattern.Solid)}));
    connector RealOutput = output Real "'output Real' as connector";
    connector BooleanInput = input Boolean;
    connector BooleanOutput = output Boolean;
    connector IntegerInput = input Integer;
    connector IntegerOutput = output Integer;

    partial block SO "Single output"
      extends Icons.Block;
      RealOutput y "Connector of Real output signal" annotation (Placement(transformation(extent={{100,-10},{120,10}})));
    end SO;
    partial block SISO
      extends Icons.Block;
      RealInput u;
      RealOutput y;
    end SISO;
    partial block SI2SO
      extends Icons.Block;
      RealInput u1, u2;
      RealOutput y;
    end SI2SO;
    partial block MISO
      extends Icons.Block;
      parameter Integer nin=1 "Number of inputs";
      RealInput u[nin];
      RealOutput y;
    end MISO;
    partial block MIMO
      extends Icons.Block;
      parameter Integer nin=1, nout=1;
      RealInput u[nin];
      RealOutput y[nout];
    end MIMO;
    partial block MIMOs
      extends Icons.Block;
      parameter Integer n=1;
      RealInput u[n];
      RealOutput y[n];
    end MIMOs;
    partial block SignalSource
      extends SO;
      parameter Real offset=0;
      parameter Units.Time startTime=0 "Output y = offset for time < startTime";
    end SignalSource;
    partial block partialBooleanSource
      extends Icons.Block;
      BooleanOutput y;
    end partialBooleanSource;
  end Interfaces;

  package Types
    extends Icons.Package;
    type Init = enumeration(
        NoInit "No initialization",
        SteadyState "Steady state initialization",
        InitialState "Initialization with initial states",
        InitialOutput "Initialization with initial outputs") "Enumeration defining initialization of a block"
      annotation (Evaluate=true, Documentation(info="<html></html>"));
    type Smoothness = enumeration(LinearSegments, ContinuousDerivative, ConstantSegments);
    type LimiterHomotopy = enumeration(NoHomotopy, Linear, UpperLimit, LowerLimit);
    type Extrapolation = enumeration(HoldLastPoint, LastTwoPoints, Periodic, NoExtrapolation);
  end Types;

  package Sources
    block RealExpression
      Interfaces.RealOutput y=0.0 "Value of Real output"
        annotation (Dialog(group="Time varying output signal"), Placement(transformation(extent={{100,-10},{120,10}})));
    end RealExpression;
    block Constant
      parameter Real k(start=1) "Constant output value";
      extends Interfaces.SO;
    equation
      y = k;
    end Constant;
    block Step
      parameter Real height=1;
      extends Interfaces.SignalSource;
    equation
      y = offset + (if time < startTime then 0 else height);
    end Step;
    block Ramp
      parameter Real height=1;
      parameter Units.Time duration(min=0.0, start=2);
      extends Interfaces.SignalSource;
    equation
      y = offset + (if time < startTime then 0 else if time < (startTime + duration) then (time - startTime)*height/duration
          else height);
    end Ramp;
    block BooleanPulse
      parameter Real width(final min=Constants.eps, final max=100) = 50;
      parameter Units.Time period(final min=Constants.eps, start=1);
      parameter Units.Time startTime=0;
      extends Interfaces.partialBooleanSource;
    protected
      parameter Units.Time Twidth=period*width/100 "Width of one pulse" annotation (HideResult=true);
      discrete Units.Time pulseStart "Start time of pulse" annotation (HideResult=true);
    initial equation
      pulseStart = startTime;
    equation
      when sample(startTime, period) then
        pulseStart = time;
      end when;
      y = time >= pulseStart and time < pulseStart + Twidth;
    end BooleanPulse;
    block BooleanTable
      parameter Units.Time table[:]={0, 1} "Vector of time points";
      parameter Boolean startValue=false;
      extends Interfaces.partialBooleanSource;
    protected
      final parameter Integer n=size(table, 1);
      Integer next;
    algorithm
      if initial() then
        next := 1;
        y := startValue;
      end if;
      when {time >= table[i] for i in 1:n} then
        next := pre(next) + 1;
        y := not pre(y);
      end when;
    end BooleanTable;
  end Sources;

  package Constants
    final constant Real eps=1e-15;
    final constant Real inf=1e60;
    final constant Real pi=2*Mathx.asinOne;
    package Mathx
      constant Real asinOne=asin(1.0);
    end Mathx;
  end Constants;

  package Units
    type Time = Real(final quantity="Time", final unit="s");
    type Angle = Real(final quantity="Angle", final unit="rad", displayUnit="deg");
    type PerUnit = Real(unit="1");
  end Units;

  package MathBlocks
    block Gain
      parameter Real k(start=1) "Gain value multiplied with input signal";
      extends Interfaces.SISO;
    equation
      y = k*u;
    end Gain;
    block MatrixGain
      parameter Real K[:, :]=[1, 0; 0, 1];
      extends Interfaces.MIMO(final nin=size(K, 2), final nout=size(K, 1));
    equation
      y = K*u;
    end MatrixGain;
    block Sum
      extends Interfaces.MISO;
      parameter Real k[nin]=ones(nin) "Optional: sum coefficients";
    equation
      y = k*u;
    end Sum;
    block MultiSum
      extends Interfaces.SO;
      parameter Integer nu(min=0) = 0 annotation (Dialog(connectorSizing=true), HideResult=true);
      Interfaces.RealInput u[nu];
      parameter Real k[nu]=fill(1, nu);
    equation
      if size(u, 1) > 0 then
        y = k*u;
      else
        y = 0;
      end if;
    end MultiSum;
    block Feedback
      input Interfaces.RealInput u1;
      input Interfaces.RealInput u2;
      output Interfaces.RealOutput y;
    equation
      y = u1 - u2;
    end Feedback;
  end MathBlocks;

  package Continuous
    import LibBlocks.Types.Init;
    block Integrator
      parameter Real k(unit="1") = 1;
      parameter Boolean use_reset=false annotation (Evaluate=true, HideResult=true, choices(checkBox=true));
      parameter Boolean use_set=false annotation (Dialog(enable=use_reset), Evaluate=true, choices(checkBox=true));
      parameter Init initType=Init.InitialState "Type of initialization" annotation (Evaluate=true, Dialog(group="Initialization"));
      parameter Real y_start=0;
      extends Interfaces.SISO(y(start=y_start));
      Interfaces.BooleanInput reset if use_reset "Optional connector of reset signal"
        annotation (Placement(transformation(extent={{-20,-20},{20,20}}, rotation=90, origin={60,-120})));
      Interfaces.RealInput set if use_reset and use_set;
    protected
      Interfaces.BooleanOutput local_reset annotation (HideResult=true);
      Interfaces.RealOutput local_set annotation (HideResult=true);
    initial equation
      if initType == Init.SteadyState then
        der(y) = 0;
      elseif initType == Init.InitialState or initType == Init.InitialOutput then
        y = y_start;
      end if;
    equation
      if use_reset then
        connect(reset, local_reset);
        if use_set then
          connect(set, local_set);
        else
          local_set = y_start;
        end if;
        when local_reset then
          reinit(y, local_set);
        end when;
      else
        local_reset = false;
        local_set = 0;
      end if;
      der(y) = k*u;
    end Integrator;
    block FirstOrder
      parameter Real k(unit="1") = 1;
      parameter Units.Time T(start=1);
      parameter Init initType=Init.NoInit annotation (Evaluate=true);
      parameter Real y_start=0;
      extends Interfaces.SISO(y(start=y_start));
    initial equation
      if initType == Init.SteadyState then
        der(y) = 0;
      elseif initType == Init.InitialState or initType == Init.InitialOutput then
        y = y_start;
      end if;
    equation
      der(y) = (k*u - y)/T;
    end FirstOrder;
    block PID
      extends Interfaces.SISO;
      parameter Real k=1;
      parameter Units.Time Ti(min=1e-10, start=0.5), Td(min=0, start=0.1);
      parameter Real Nd(min=1e-10) = 10;
      MathBlocks.Gain P(k=1);
      constant Units.Time unitTime=1;
      Integrator I(k=unitTime/Ti, y_start=0, initType=Init.InitialState);
      Derivative D(k=Td/unitTime, T=max([Td/Nd, 100*Constants.eps]));
      MathBlocks.Gain Gain(k=k);
      MathBlocks.MultiSum Add(nu=3);
    equation
      connect(P.y, Add.u[1]) annotation (Line(points={{2,80},{18,80},{18,8}}, color={0,0,127}));
      connect(I.y, Add.u[2]);
      connect(D.y, Add.u[3]);
      connect(u, P.u);
      connect(u, I.u);
      connect(u, D.u);
      connect(Add.y, Gain.u);
      connect(Gain.y, y);
    end PID;
    block Derivative
      parameter Real k(unit="1") = 1;
      parameter Units.Time T(min=1e-60) = 0.01;
      extends Interfaces.SISO;
      output Real x(start=0) "State of block";
    protected
      parameter Boolean zeroGain=abs(k) < Constants.eps;
    initial equation
      x = u;
    equation
      der(x) = if zeroGain then 0 else (u - x)/T;
      y = if zeroGain then 0 else (k/T)*(u - x);
    end Derivative;
    block StateSpace
      parameter Real A[:, size(A, 1)]=[1, 0; 0, 1];
      parameter Real B[size(A, 1), :]=[1; 1];
      parameter Real C[:, size(A, 1)]=[1, 1];
      parameter Real D[size(C, 1), size(B, 2)]=zeros(size(C, 1), size(B, 2));
      parameter Real x_start[nx]=zeros(nx);
      extends Interfaces.MIMO(final nin=size(B, 2), final nout=size(C, 1));
      output Real x[size(A, 1)](start=x_start) "State vector";
    protected
      parameter Integer nx=size(A, 1);
      parameter Integer ny=size(C, 1);
    initial equation
      x = x_start;
    equation
      der(x) = A*x + B*u;
      y = C*x + D*u;
    end StateSpace;
    block TransferFunction
      extends Interfaces.SISO;
      parameter Real b[:]={1};
      parameter Real a[:]={1};
      output Real x[size(a, 1) - 1](start=zeros(nx)) "State of transfer function";
    protected
      parameter Integer na=size(a, 1) "Size of Denominator";
      parameter Integer nb=size(b, 1);
      parameter Integer nx=size(a, 1) - 1;
      parameter Real bb[:]=vector([zeros(max(0, na - nb), 1); b]);
      parameter Real d=bb[1]/a[1];
      parameter Real a_end=if a[end] > 100*Constants.eps*sqrt(a*a) then a[end] else 1.0;
      Real x_scaled[size(x, 1)] "Scaled vector x";
    initial equation
      x = zeros(nx);
    equation
      assert(size(b, 1) <= size(a, 1), "Transfer function is not proper");
      if nx == 0 then
        y = d*u;
      else
        der(x_scaled[1]) = (-a[2:na]*x_scaled + a_end*u)/a[1];
        der(x_scaled[2:nx]) = x_scaled[1:nx - 1];
        y = ((bb[2:na] - d*a[2:na])*x_scaled)/a_end + d*u;
        x = x_scaled/a_end;
      end if;
    end TransferFunction;
  end Continuous;

  package Logical
    block Hysteresis
      extends Icons.Block;
      parameter Real uLow(start=0), uHigh(start=1);
      parameter Boolean pre_y_start=false;
      Interfaces.RealInput u;
      Interfaces.BooleanOutput y;
    initial equation
      pre(y) = pre_y_start;
    equation
      assert(uHigh > uLow, "Hysteresis limits wrong (uHigh <= uLow)");
      y = not pre(y) and u > uHigh or pre(y) and u >= uLow;
    end Hysteresis;
    block Timer
      extends Icons.Block;
      Interfaces.BooleanInput u;
      Interfaces.RealOutput y;
    protected
      discrete Units.Time entryTime "Time instant when u became true";
    initial equation
      pre(entryTime) = 0;
    equation
      when u then
        entryTime = time;
      end when;
      y = if u then time - entryTime else 0.0;
    end Timer;
    block RSFlipFlop
      extends Icons.Block;
      parameter Boolean Qini=false;
      Interfaces.BooleanInput S, R;
      Interfaces.BooleanOutput q, qi;
    initial equation
      pre(q) = Qini;
    equation
      q = S or pre(q) and not R;
      qi = not q;
    end RSFlipFlop;
    block OnDelay
      extends Icons.Block;
      Interfaces.BooleanInput u;
      Interfaces.BooleanOutput y;
      parameter Units.Time delayTime;
    protected
      Boolean delaySignal(start=false, fixed=true);
      discrete Units.Time t_next;
    initial equation
      delaySignal = u;
      t_next = time - 1;
    equation
      when u then
        delaySignal = time + delayTime > time;
        t_next = time + delayTime;
      elsewhen not u then
        delaySignal = false;
        t_next = time - 1;
      end when;
      if delaySignal then
        y = time >= t_next;
      else
        y = false;
      end if;
    end OnDelay;
    block Counter
      Interfaces.BooleanInput u;
      Interfaces.IntegerOutput y;
    initial equation
      pre(y) = 0;
    equation
      when edge(u) then
        y = pre(y) + 1;
      end when;
    end Counter;
  end Logical;

  package Routing
    block Multiplex
      parameter Integer n1=1, n2=1;
      Interfaces.RealInput u1[n1], u2[n2];
      Interfaces.RealOutput y[n1 + n2];
    equation
      [y] = [u1; u2];
    end Multiplex;
    model RealPassThrough
      extends Interfaces.SISO;
    equation
      connect(u, y);
    end RealPassThrough;
  end Routing;

  package Tables
    function interpolate "Linear interpolation in a column"
      input Real table[:, :];
      input Integer column;
      input Real u;
      input Types.Smoothness smoothness=Types.Smoothness.LinearSegments;
      output Real y;
    protected
      Integer i=1;
      Integer n=size(table, 1);
    algorithm
      if n == 1 then
        y := table[1, column];
      else
        while i < n - 1 and u >= table[i + 1, 1] loop
          i := i + 1;
        end while;
        if smoothness == Types.Smoothness.ConstantSegments then
          y := if u < table[n, 1] then table[i, column] else table[n, column];
        else
          y := table[i, column] + (table[i + 1, column] - table[i, column])*(u - table[i, 1])/(table[i + 1, 1] - table[i, 1]);
        end if;
      end if;
    end interpolate;
    block CombiTable1Ds
      extends SIMO(final nout=size(columns, 1));
      parameter Real table[:, :]=fill(0.0, 0, 2);
      parameter Integer columns[:]=2:size(table, 2);
      parameter Types.Smoothness smoothness=Types.Smoothness.LinearSegments;
      partial block SIMO
        parameter Integer nout=1;
        Interfaces.RealInput u;
        Interfaces.RealOutput y[nout];
      end SIMO;
    equation
      for i in 1:nout loop
        y[i] = interpolate(table, columns[i], u, smoothness);
      end for;
    end CombiTable1Ds;
    block Simple
      extends Interfaces.SISO;
      parameter Real table[:, 2];
      CombiTable1Ds inner_table(table=table);
    equation
      connect(u, inner_table.u);
      connect(inner_table.y[1], y);
    end Simple;
  end Tables;

  package Nonlinear
    block Limiter
      parameter Real uMax(start=1);
      parameter Real uMin=-uMax;
      parameter Boolean strict=false annotation (Evaluate=true, choices(checkBox=true), Dialog(tab="Advanced"));
      parameter Types.LimiterHomotopy homotopyType=Types.LimiterHomotopy.Linear annotation (Evaluate=true);
      extends Interfaces.SISO;
    protected
      Real simplifiedExpr annotation (HideResult=true);
    equation
      assert(uMax >= uMin, "Limiter: Limits must be consistent. However, uMax (=" + String(uMax) + ") < uMin (=" + String(uMin) + ")");
      simplifiedExpr = (if homotopyType == Types.LimiterHomotopy.Linear then u else if homotopyType == Types.LimiterHomotopy.UpperLimit
        then uMax else if homotopyType == Types.LimiterHomotopy.LowerLimit then uMin else 0);
      if strict then
        if homotopyType == Types.LimiterHomotopy.NoHomotopy then
          y = smooth(0, noEvent(if u > uMax then uMax else if u < uMin then uMin else u));
        else
          y = homotopy(actual=smooth(0, noEvent(if u > uMax then uMax else if u < uMin then uMin else u)), simplified=simplifiedExpr);
        end if;
      else
        if homotopyType == Types.LimiterHomotopy.NoHomotopy then
          y = smooth(0, if u > uMax then uMax else if u < uMin then uMin else u);
        else
          y = homotopy(actual=smooth(0, if u > uMax then uMax else if u < uMin then uMin else u), simplified=simplifiedExpr);
        end if;
      end if;
    end Limiter;
    block FunctionBlock
      extends Interfaces.SISO;
      replaceable function f = square constrainedby Shape annotation (choicesAllMatching=true);
      partial function Shape
        input Real u;
        output Real y;
      end Shape;
      function square
        extends Shape;
      algorithm
        y := u^2;
      end square;
    equation
      y = f(u);
    end FunctionBlock;
  end Nonlinear;
end LibBlocks;

model BlocksTest
  import LibBlocks.{Sources, Continuous, MathBlocks, Logical};
  import Init = LibBlocks.Types.Init;
  import LibBlocks.Nonlinear.*;
  Sources.Step step(height = 2, offset = 0.5, startTime = 0.5);
  Sources.Constant const(k = 1), const2(final k = 2);
  MathBlocks.Sum sum3(nin = 3, k = {1, 2, 2});
  Continuous.FirstOrder firstOrder(k = 2, T = 1, initType = Init.InitialState);
  Continuous.Integrator integ(use_reset = true, y_start = 0);
  Sources.BooleanPulse pulse(period = 1, width = 50, startTime = 0.5);
  Continuous.Integrator integ2(use_reset = true, use_set = true, y_start = 4, initType = Init.InitialOutput);
  Sources.RealExpression expr(y = 2*const2.y + 4);
  Sources.RealExpression setValue(y = 2.5);
  Continuous.PID pid(k = 1, Ti = 0.2, Td = 0.1);
  LibBlocks.Routing.Multiplex mux(n1 = 1, n2 = 3);
  MathBlocks.Gain gains[3](each k = 2);
  MathBlocks.MatrixGain matrixGain(K = [1, 2, 3; 4, 5, 6]);
  LibBlocks.Tables.Simple table(table = [0, 0; 1, 10; 2, 20]);
  LibBlocks.Tables.CombiTable1Ds table2(table = [0, 0, 1; 1, 10, 1; 2, 30, 1]);
  Sources.RealExpression wave(y = sin(LibBlocks.Constants.pi*time));
  Logical.Hysteresis hysteresis(uLow = -0.5, uHigh = 0.5);
  Logical.Timer timer;
  Logical.Counter counter;
  Sources.BooleanTable switchOn(table = {0.9, 2.0});
  Logical.RSFlipFlop rs;
  Sources.BooleanTable set(table = {0.8, 1.0}), reset(table = {1.05, 1.2});
  Continuous.StateSpace ss(A = [-1, 0; 0, -1], B = [1; 1], C = [-1, -1]);
  Continuous.TransferFunction tf(b = {1}, a = {1, 2, 1});
  FunctionBlock nonlinear(redeclare function f = cube);
  function cube
    extends FunctionBlock.Shape;
  algorithm
    y := u^3;
  end cube;
  Continuous.TransferFunction filter(b = {2}, a = {1, 2});
  Limiter limiter(uMax = 1), limiterFollow(uMax = 5, strict = true, homotopyType = LibBlocks.Types.LimiterHomotopy.NoHomotopy);
equation
  sum3.u = {1, 2, 2};
  connect(const.y, firstOrder.u);
  connect(const.y, integ.u);
  connect(pulse.y, integ.reset);
  connect(const.y, integ2.u);
  connect(pulse.y, integ2.reset);
  connect(setValue.y, integ2.set);
  connect(const.y, pid.u);
  mux.u1[1] = 1;
  mux.u2 = {2, 3, 4};
  connect(gains.u, mux.y[1:3]);
  matrixGain.u = {1, 2, 3};
  table.u = 1.5;
  connect(setValue.y, table2.u) annotation (Line(points = {{0, 0}, {1, 1}}));
  connect(wave.y, hysteresis.u);
  connect(switchOn.y, timer.u);
  connect(pulse.y, counter.u);
  connect(set.y, rs.S);
  connect(reset.y, rs.R);
  connect(const2.y, ss.u[1]);
  connect(const.y, tf.u);
  connect(const2.y, nonlinear.u);
  connect(const.y, filter.u);
  connect(const2.y, limiter.u);
  limiterFollow.u = 4;
  annotation (experiment(StopTime = 2.2, Tolerance = 1e-8), uses(LibBlocks(version = "1.0")));
end BlocksTest;
