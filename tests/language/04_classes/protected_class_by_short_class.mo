// 4.1: A protected class is not reached by a dot, also where a short class names it.
// error: E0125 at 10:15
package A
protected
  model C
    Real x = 1;
  end C;
end A;
model M
  model F = A.C;
  F f;
end M;
