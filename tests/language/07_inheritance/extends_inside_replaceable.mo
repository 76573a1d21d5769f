// 7.1.4: A base class does not stand in a replaceable one.
// error: E0132 at 9:11 'B' is replaceable: what is in it cannot be extended
model M
  package A
    replaceable package B
      model C Real x = 1; end C;
    end B;
  end A;
  extends A.B.C;
end M;
