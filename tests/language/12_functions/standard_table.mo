// 12.9.7: tables of one variable are external objects of the standard library that come with mdlc; values by hand.
// expect: line = 5 at 1.5 within 1e-12
// expect: line = -4 at 0 within 1e-12
// expect: held = 1 at 0
// expect: held = 9 at 4
// expect: steps = 1 at 1.5
// expect: steps = 4 at 2.5
// expect: wave = 3.5 at 3.5 within 1e-12
// expect: smooth = 2.56 at 1.6 within 1e-12
// expect: rate = 3.2 at 1.6 within 1e-9
// expect: limits = {1, 3}
// expect: product = 2 at 2 within 1e-12
// expect: corner = 3 at 0.5 within 1e-12
// expect: x = 2.6 at 2 within 1e-6
package P
  class Table
    extends ExternalObject;
    function constructor
      input String tableName;
      input String fileName;
      input Real table[:, :];
      input Integer columns[:];
      input Integer smoothness;
      input Integer extrapolation = 2;
      input Boolean verboseRead = true;
      output Table externalTable;
      external "C" externalTable = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, extrapolation, verboseRead)
        annotation(Include = "#include \"ModelicaStandardTables.h\"", Library = {"ModelicaStandardTables", "ModelicaIO", "ModelicaMatIO", "zlib"});
    end constructor;
    function destructor
      input Table externalTable;
      external "C" ModelicaStandardTables_CombiTable1D_close(externalTable) annotation(Library = {"ModelicaStandardTables"});
    end destructor;
  end Table;
  function value
    input Table tableID;
    input Integer icol;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(tableID, icol, u) annotation(Library = {"ModelicaStandardTables"});
    annotation(derivative = slope);
  end value;
  function slope
    input Table tableID;
    input Integer icol;
    input Real u;
    input Real der_u;
    output Real der_y;
    external "C" der_y = ModelicaStandardTables_CombiTable1D_getDerValue(tableID, icol, u, der_u) annotation(Library = {"ModelicaStandardTables"});
  end slope;
  function least
    input Table tableID;
    output Real u;
    external "C" u = ModelicaStandardTables_CombiTable1D_minimumAbscissa(tableID) annotation(Library = {"ModelicaStandardTables"});
  end least;
  function most
    input Table tableID;
    output Real u;
    external "C" u = ModelicaStandardTables_CombiTable1D_maximumAbscissa(tableID) annotation(Library = {"ModelicaStandardTables"});
  end most;
  class Grid
    extends ExternalObject;
    function constructor
      input String tableName;
      input String fileName;
      input Real table[:, :];
      input Integer smoothness;
      input Integer extrapolation = 2;
      input Boolean verboseRead = true;
      output Grid grid;
      external "C" grid = ModelicaStandardTables_CombiTable2D_init2(fileName, tableName, table, size(table, 1), size(table, 2), smoothness,
        extrapolation, verboseRead) annotation(Library = {"ModelicaStandardTables"});
    end constructor;
    function destructor
      input Grid grid;
      external "C" ModelicaStandardTables_CombiTable2D_close(grid) annotation(Library = {"ModelicaStandardTables"});
    end destructor;
  end Grid;
  function gridValue
    input Grid grid;
    input Real u1, u2;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(grid, u1, u2) annotation(Library = {"ModelicaStandardTables"});
  end gridValue;
  block Curve
    parameter Integer smoothness, extrapolation = 2, column = 2;
    parameter P.Table id = P.Table("NoName", "NoName", [1, 1, 2; 2, 4, 5; 3, 9, 2], {2, 3}, smoothness, extrapolation, false);
  end Curve;
end P;
model M
  P.Curve a(smoothness = 1), b(smoothness = 1, extrapolation = 1), c(smoothness = 3), d(smoothness = 1, extrapolation = 3), e(smoothness = 2);
  P.Grid plane = P.Grid("NoName", "NoName", [0, 0, 1, 2; 0, 0, 0, 0; 1, 0, 1, 2; 2, 0, 2, 4], 1, 2, false);
  Real line = 2*P.value(a.id, 1, time), held = P.value(b.id, 1, time), steps = P.value(c.id, 1, time), wave = P.value(d.id, 2, time);
  Real smooth = P.value(e.id, 1, time), rate = der(smooth);
  parameter Real limits[2] = {P.least(a.id), P.most(a.id)};
  Real product = P.gridValue(plane, time, time/2), corner = P.gridValue(plane, time + 1, 2);
  Real x(start = 1);
equation
  P.value(a.id, 1, x) = 1 + 3*time;
  annotation(experiment(StopTime = 4));
end M;
