model M
  connector P
    Real v;
    flow Real i;
  end P;
  partial model Base
    P p;
  end Base;
  model Good
    extends Base;
  equation
    p.i = p.v;
  end Good;
  model Bad
    Real y = time;
  end Bad;
  model Sys
    replaceable Good load constrainedby Base;
  equation
    load.p.v = 1;
  end Sys;
  Sys s(redeclare Bad load);
end M;
