// 14.3: A constructor gives a value of its operator record.
// error: E0131 at 6:5
operator record C
  Real re;
  encapsulated operator 'constructor'
    function f1
      input Real x;
      output Real r;
    algorithm
      r := x;
    end f1;
  end 'constructor';
end C;
model M
  C a = C(1);
end M;
