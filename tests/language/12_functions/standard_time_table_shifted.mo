// 12.9.7: events of a table over time that is shifted far are met, although its time, the difference of two large ones, is rounded.
// expect: y = 7.3 at 2050.5 within 1e-9
// expect: y = 23.2 at 2181.5 within 1e-9
// expect: events = 4
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
  P.Signal a(startTime = 2000, extrapolation = 1, rows = [9.81594, 0, 0; 50.5, 7.3, 0; 181.5, 23.2, 0]);
  Real y = a.y;
  discrete Integer events(start = 0, fixed = true);
equation
  when time >= pre(a.next) then
    events = pre(events) + 1;
  end when;
  annotation(experiment(StopTime = 2200));
end M;
