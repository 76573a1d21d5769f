// 12.9.7: what tables of the standard library are at and beyond their ends: steps go on as straight lines, of two variables bilinearly, and what is
// monotone has the slopes of the chords there. Between four points is Akima's surface of 1974. Values by hand, those of surfaces from the formulas of the paper.
// expect: steps = -2 at 0 within 1e-12
// expect: steps = 1 at 1.5
// expect: steps = 9 at 3
// expect: steps = 19 at 5 within 1e-12
// expect: butland = 1.71484375 at 1.25 within 1e-12
// expect: butland = 19 at 5 within 1e-12
// expect: steffen = 19 at 5 within 1e-12
// expect: ground = 2 at 1.5
// expect: ground = 6.625 at 4 within 1e-12
// expect: ground = 0 at 0 within 1e-12
// expect: surface = 1.5485432942708335 at 0.5 within 1e-12
// expect: surface = 4.463222337805705 at 1.5 within 1e-12
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
end P;
model M
  parameter Real rows[3, 2] = [1, 1; 2, 4; 3, 9];
  P.Table a = P.Table("NoName", "NoName", rows, {2}, 3, 2, false), b = P.Table("NoName", "NoName", rows, {2}, 4, 2, false),
    c = P.Table("NoName", "NoName", rows, {2}, 5, 2, false);
  P.Grid g = P.Grid("NoName", "NoName", [0, 0, 1, 3; 0.5, 0, 1, 2; 1, 2, 2, 4; 3, 5, 5, 6], 3, 2, false);
  P.Grid s = P.Grid("NoName", "NoName", [0, 0, 1, 2, 4; 0, 0, 2, 1, 5; 1, 1, 4, 4, 2; 3, 3, 1, 6, 7; 4, 2, 2, 8, 3], 2, 2, false);
  Real steps = P.value(a, 1, time), butland = P.value(b, 1, time), steffen = P.value(c, 1, time);
  Real ground = P.gridValue(g, time, 1.5), surface = P.gridValue(s, time, 2.25*time - 0.875);
  annotation(experiment(StopTime = 5));
end M;
