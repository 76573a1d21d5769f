// 6.6: The inputs of a base stand where the extends clause stands.
// expect: u.y = 3
package P
  partial function F
    input Real a;
    input Real b;
    output Real y;
  end F;
  partial function G
    input Real b;
  end G;
  function H
    input Real a;
    extends G;
    output Real y;
  algorithm
    y := a - b;
  end H;
  model U
    replaceable function f = F;
    Real y = f(5, 2);
  end U;
end P;
model M
  P.U u(redeclare function f = P.H);
end M;
