// 4.4.4: The value of a record of parameters has no field of it inside.
// error: E0604 at 8:19
model M
  record R
    Real a;
    Real b;
  end R;
  parameter R r = R(1, r.a);
end M;
