// 12.4.4: Modifications of an output that is a record give its fields the sizes that its class leaves open.
// expect: s = 13.5
model M
  record Curve
    parameter Real y[:];
    parameter Real eta[size(y, 1)];
    parameter Real last = 0;
  end Curve;
  function curve
    input Real p;
    output Curve c(y = {0, 0.5, 1}, eta = zeros(n));
  protected
    constant Integer n = 3;
  algorithm
    c.eta := p*{1, 2, 3};
  end curve;
  parameter Curve c = curve(2);
  Real s = sum(c.eta) + sum(c.y) + c.last;
end M;
