// 4.4.4: A field with a value of its own may follow from another field.
// expect: z = 1
model M
  record R
    Real a;
    Real b;
  end R;
  parameter R r(a = 1, b = r.a);
  Real z = r.b;
end M;
