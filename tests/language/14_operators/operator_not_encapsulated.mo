// 14.3: Operators are encapsulated.
// error: E0131 at 6:5 'M.C.'constructor'' is an operator: it is encapsulated
model M
  operator record C
    Real r;
    operator function 'constructor'
      input Real r;
      output C c(r = r);
    end 'constructor';
    encapsulated operator function '+'
      input C a; input C b; output C c(r=a.r+b.r);
    algorithm
    end '+';
  end C;
  C c = C(1.0);
end M;
