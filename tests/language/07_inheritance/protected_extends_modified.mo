// 7.1.2: What a protected extends clause inherits is protected: it is not modified from outside.
// error: E0125 at 9:7 'x' is inherited by 'M.B' as protected and cannot be modified from outside
model M
  model A Real x = 1; end A;
  model B
  protected
    extends A;
  end B;
  B b(x = 2);
end M;
