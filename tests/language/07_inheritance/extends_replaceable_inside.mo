// 7.1.4: A base class is not replaceable, wherever it stands.
// error: E0132 at 7:11 'B' is replaceable and cannot be extended
model M
  model A
    replaceable model B Real x = 1; end B;
  end A;
  extends A.B;
end M;
