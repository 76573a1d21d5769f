// 12.2: A type with the prefix input or output makes inputs and outputs of a function.
// expect: x[3] = 1
type InArgument = input Real;
type OutArgument = output Real[3];
function foo
  InArgument u;
  OutArgument y;
algorithm
  y := fill(u, 3);
end foo;
model M
  Real x[:] = foo(time);
end M;
