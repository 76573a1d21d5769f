// 6.6: The inputs of a function have the order that is asked for.
// error: E0130 at 20:7
partial function F1
  input Real a;
  input Real b;
  output Real y;
end F1;
function F2
  input Real b;
  input Real a;
  output Real y;
algorithm
  y := a - b;
end F2;
model U
  replaceable function f = F1;
  Real y = f(1, 2);
end U;
model M
  U u(redeclare function f = F2);
end M;
