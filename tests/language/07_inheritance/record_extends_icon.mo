// 7.1.3: A record may extend an empty class, and is constructed all the same.
// expect: y = 3
model M
  partial class Icon
  end Icon;
  record R
    extends Icon;
    Real x;
  end R;
  R r = R(3);
  Real y = r.x;
end M;
