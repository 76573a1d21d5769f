// 12.9.7: A class of external objects may extend empty classes.
// external: allowed
// expect: y = 3
model M
  partial class Icon
  end Icon;
  class Cell
    extends ExternalObject;
    extends Icon;
    function constructor
      input Real x;
      output Cell cell;
      external "C" cell = cell_new(x) annotation(Include = "#include <stdlib.h>
static void *cell_new(double x) { double *cell = malloc(sizeof *cell); *cell = x; return cell; }");
    end constructor;
    function destructor
      input Cell cell;
      external "C" free(cell);
    end destructor;
  end Cell;
  function content
    input Cell cell;
    output Real y;
    external "C" y = cell_content(cell) annotation(Include = "static double cell_content(void *cell) { return *(double *)cell; }");
  end content;
  Cell cell = Cell(3);
  Real y = content(cell);
end M;
