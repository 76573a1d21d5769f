model M
  model R
    parameter Real k = 1;
    Real y = k*time;
  end R;
  R r = R(2);
end M;
