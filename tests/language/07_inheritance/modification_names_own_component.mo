// 7.2: A modification of a component may ask for another value of the same component, as long as none follows from itself.
// expect: x = {1, 1, 1} at 1
// expect: columns = {2, 3} at 1
model M
  block A
    parameter Integer m = 3;
    parameter Integer n = 1;
    parameter Boolean flag = true;
    parameter Real table[:, :] = [0, 1];
    parameter Integer columns[:] = {1};
    Real x[n] = fill(time, n);
  end A;
  A a(n = a.m, x(each stateSelect = if a.flag then StateSelect.avoid else StateSelect.default));
  A b(table = [1, 2, 3; 4, 5, 6], columns = 2:size(b.table, 2));
  Real x[3] = a.x;
  Real columns[2] = b.columns;
end M;
