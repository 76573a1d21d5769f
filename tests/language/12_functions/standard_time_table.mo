// 12.9.7: tables over time: jumps take place at events, and periods are continued; values by hand.
// expect: line = 1 before 1
// expect: line = 3 at 1
// expect: line = 2 at 2.5 within 1e-9
// expect: line = 1 before 4
// expect: line = 3 at 4
// expect: steps = 7 at 1.5
// expect: steps = 5 before 3
// expect: steps = 0 at 3
// expect: first = 0 before 1
// expect: first = 1 at 1
// expect: late = 0 at 0.25
// expect: late = 0.5 at 1 within 1e-9
// expect: area = 1.25 at 3 within 1e-6
// expect: events = 7
// expect: begun = 0 before 1
// expect: begun = 1 at 1
// expect: early = false at 7
// expect: limits = {0, 3}
package P
  class Table
    extends ExternalObject;
    function constructor
      input String tableName;
      input String fileName;
      input Real table[:, :];
      input Real startTime;
      input Integer columns[:];
      input Integer smoothness, extrapolation;
      input Real shiftTime = 0;
      input Integer timeEvents = 1;
      input Boolean verboseRead = true;
      input String delimiter = ",";
      input Integer nHeaderLines = 0;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init3(fileName, tableName, table, size(table, 1), size(table, 2), startTime,
        columns, size(columns, 1), smoothness, extrapolation, shiftTime, timeEvents, verboseRead, delimiter, nHeaderLines)
        annotation(Library = {"ModelicaStandardTables"});
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t) annotation(Library = {"ModelicaStandardTables"});
    end destructor;
  end Table;
  function value
    input Table id;
    input Integer icol;
    input Real timeIn;
    discrete input Real next, preNext;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(id, icol, timeIn, next, preNext) annotation(Library = {"ModelicaStandardTables"});
  end value;
  function event
    input Table id;
    input Real timeIn;
    output Real next;
    external "C" next = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(id, timeIn) annotation(Library = {"ModelicaStandardTables"});
  end event;
  function least
    input Table id;
    output Real t;
    external "C" t = ModelicaStandardTables_CombiTimeTable_minimumTime(id) annotation(Library = {"ModelicaStandardTables"});
  end least;
  function most
    input Table id;
    output Real t;
    external "C" t = ModelicaStandardTables_CombiTimeTable_maximumTime(id) annotation(Library = {"ModelicaStandardTables"});
  end most;
  block Signal
    parameter Integer smoothness = 1, column = 2, extrapolation = 3;
    parameter Real startTime = 0, shiftTime = startTime;
    parameter Real rows[:, 3] = [0, 0, 0; 1, 1, 5; 1, 3, 7; 2, 3, 5; 3, 1, 0];
    parameter Table id = Table("NoName", "NoName", rows, startTime, {column}, smoothness, extrapolation,
      shiftTime);
    discrete Real next(start = 0, fixed = true);
    Real y;
  equation
    when {time >= pre(next), initial()} then
      next = event(id, time);
    end when;
    y = value(id, 1, time, next, pre(next));
  end Signal;
end P;
model M
  P.Signal a, b(smoothness = 3, column = 3), c(startTime = 0.5, extrapolation = 2), d(smoothness = 3, extrapolation = 1, rows = [1, 0, 0; 1, 1, 0; 3, 0, 0]),
    e(startTime = 1, rows = [0.5, 1, 0]);
  Real first = d.y, line = a.y, steps = b.y, late = c.y, begun = e.y;
  Real area(start = 0, fixed = true), differs(start = 0, fixed = true);
  Boolean early = differs > 0;
  discrete Integer events(start = 0, fixed = true);
  parameter Real limits[2] = {P.least(a.id), P.most(a.id)};
equation
  der(differs) = (e.y - (if time >= 1 then 1 else 0))^2;
  der(area) = if time < 1 then 0 elseif time < 1.5 then 0 else line - 1.5;
  when time >= pre(a.next) then
    events = pre(events) + 1;
  end when;
  annotation(experiment(StopTime = 7, Tolerance = 1e-8));
end M;
