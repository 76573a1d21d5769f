// 4.6: A record has no inputs, also by their types.
// error: E0131 at 6:8
model M
  type In = input Real;
  record R
    In x;
  end R;
  R r(x = 1);
end M;
