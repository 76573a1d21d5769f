// What annotations `derivative` name exists: the function, the options, the inputs.
model derivative_names
  function rate
    input Real u;
    input Real du;
    output Real dy;
  algorithm
    dy := 2*u*du;
  end rate;
  function no_function
    input Real u;
    output Real y;
  algorithm
    y := u^2;
    annotation(derivative = ratte);
  end no_function;
  function no_option
    input Real u;
    output Real y;
  algorithm
    y := u^2;
    annotation(derivative(ordr = 1) = rate);
  end no_option;
  function no_input
    input Real u;
    input Real k;
    output Real y;
  algorithm
    y := k*u^2;
    annotation(derivative(noDerivative = y) = rate);
  end no_input;
  function no_zero
    input Real u;
    input Real k;
    output Real y;
  algorithm
    y := k*u^2;
    annotation(derivative(zeroDerivative = kk) = rate);
  end no_zero;
  function good
    input Real u;
    output Real y;
  algorithm
    y := u^2;
    annotation(derivative(order = 1) = rate);
  end good;
  Real a = no_function(time), b = no_option(time), c = no_input(time, 1), d = no_zero(time, 1), e = good(time);
end derivative_names;
