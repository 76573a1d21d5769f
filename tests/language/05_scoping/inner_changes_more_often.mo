// 5.4: An inner element does not change more often than the outer declaration says.
// error: E0128 at 4:24
model A
  outer parameter Real T;
  Real x = T;
end A;
model M
  inner Real T = time;
  A a;
end M;
