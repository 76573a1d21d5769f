// 4.7: The input of a component has its value in the declaration of the component.
// error: E0420 at 8:5
model M
  model A
    input Real u;
    Real y = u;
  end A;
  A a;
equation
  a.u = 1;
end M;
