// 20: StateGraph: steps and transitions in arrays of Boolean connectors, an outer root, delays, parallel branches.
// expect: step1.active = true at 0.4
// expect: step1.active = false at 0.6
// expect: step2.active = true at 0.6
// expect: step3.active = true at 1.2
// expect: branchA.active = true at 1.2
// expect: branchB.active = true at 1.2
// expect: last.active = true at 1.9
// expect: branchA.active = false at 1.9
// expect: count = 2 at 0.6
// expect: count = 6 at 1.9
// expect: level = 0.5 at 1 within 1e-7
// expect: level = 1 at 2 within 1e-7
// expect: root.nActive = 3 at 1.2
package LibGraph
  package Interfaces
    connector StepIn
      output Boolean occupied "true, if the step is active";
      input Boolean set "true, if the transition before it fires";
    end StepIn;
    connector StepOut
      output Boolean available;
      input Boolean reset;
    end StepOut;
    connector TransitionIn
      input Boolean available;
      output Boolean reset;
    end TransitionIn;
    connector TransitionOut
      input Boolean occupied;
      output Boolean set;
    end TransitionOut;
    partial block PartialStep
      parameter Integer nIn(min=0) = 1;
      parameter Integer nOut(min=0) = 1;
      parameter Boolean initial_step=false annotation (Evaluate=true);
      StepIn inPort[nIn];
      StepOut outPort[nOut];
      output Boolean active(start=initial_step, fixed=true);
    protected
      Boolean newActive(start=initial_step, fixed=true) "Value of active in the next iteration" annotation (HideResult=true);
    equation
      active = pre(newActive);
      newActive = if anyOf(inPort.set) then true else active and not anyOf(outPort.reset);
      for i in 1:nIn loop
        inPort[i].occupied = if i == 1 then active else inPort[i - 1].occupied or inPort[i - 1].set;
      end for;
      for i in 1:nOut loop
        outPort[i].available = if i == 1 then active else outPort[i - 1].available and not outPort[i - 1].reset;
      end for;
    end PartialStep;
    function anyOf
      input Boolean b[:];
      output Boolean result=false;
    algorithm
      for i in 1:size(b, 1) loop
        result := result or b[i];
      end for;
    end anyOf;
  end Interfaces;
  block Root "Counts what is active"
    parameter Integer n=1;
    input Boolean steps[n];
    output Integer nActive=sum(if b then 1 else 0 for b in steps);
  end Root;
  block Step
    extends Interfaces.PartialStep(nIn=1, nOut=1);
  end Step;
  block Transition
    parameter Boolean enableTimer=false annotation (Evaluate=true);
    parameter Real waitTime=0;
    input Boolean condition=true annotation (Dialog);
    Interfaces.TransitionIn inPort;
    Interfaces.TransitionOut outPort;
    Boolean enableFire, fire;
  protected
    Boolean expired;
    discrete Real since(start=0, fixed=true);
  equation
    assert(waitTime >= 0, "waitTime = " + String(waitTime) + " must not be negative");
    enableFire = condition and inPort.available and not outPort.occupied;
    when enableFire then
      since = time;
    end when;
    if enableTimer then
      expired = pre(enableFire) and enableFire and time >= since + waitTime;
      fire = enableFire and expired;
    else
      expired = false;
      fire = enableFire;
    end if;
    inPort.reset = fire;
    outPort.set = fire;
  public
  end Transition;
  block Parallel "One transition to several steps"
    parameter Integer n=2;
    Interfaces.StepIn inPort;
    Interfaces.TransitionOut split[n];
  equation
    for i in 1:n loop
      split[i].set = inPort.set;
    end for;
    inPort.occupied = Interfaces.anyOf(split.occupied);
  end Parallel;
  block Join
    parameter Integer n=2;
    Interfaces.TransitionIn join[n];
    Interfaces.StepOut outPort;
  equation
    for i in 1:n loop
      join[i].reset = outPort.reset;
    end for;
    outPort.available = allOf(join.available);
  end Join;
  function allOf
    input Boolean b[:];
    output Boolean result=true;
  algorithm
    for i in 1:size(b, 1) loop
      result := result and b[i];
    end for;
  end allOf;
end LibGraph;
model StateGraphTest
  import LibGraph.*;
  Step step1(initial_step=true, nIn=0), step2, step3, branchA, branchB, last(nOut=0);
  Transition t1(condition=time > 0.5), t2(enableTimer=true, waitTime=0.5), t3(condition=time > 1.5);
  Parallel parallel(n=3);
  Join join(n=3);
  Root root(n=6, steps={step1.active, step2.active, step3.active, branchA.active, branchB.active, last.active});
  Integer count(start=0, fixed=true);
  Real level(start=0, fixed=true);
equation
  when {step1.active, step2.active} then
    count = pre(count) + 2;
  elsewhen {last.active} then
    count = pre(count) + 4;
  end when;
  der(level) = if step2.active then 1 elseif branchA.active and branchB.active then 1 else 0;
  connect(step1.outPort[1], t1.inPort);
  connect(t1.outPort, step2.inPort[1]);
  connect(step2.outPort[1], t2.inPort);
  connect(t2.outPort, parallel.inPort);
  connect(parallel.split[1], step3.inPort[1]);
  connect(parallel.split[2], branchA.inPort[1]);
  connect(parallel.split[3], branchB.inPort[1]);
  connect(step3.outPort[1], join.join[1]);
  connect(branchA.outPort[1], join.join[2]);
  connect(branchB.outPort[1], join.join[3]);
  connect(join.outPort, t3.inPort);
  connect(t3.outPort, last.inPort[1]);
  annotation (experiment(StopTime=2));
end StateGraphTest;
