// 12.2: An input by its type is not assigned.
// error: E0211 at 8:3
type InArgument = input Real;
function foo
  InArgument u;
  output Real y;
algorithm
  u := 2;
  y := 1;
end foo;
model M
  Real x = foo(1);
end M;
