// 20: What is not in the part that comes along is named.
// error: E0102 at 5:12 there is no class or type 'Modelica.Fluid.Pipes.StaticPipe'
model M
  Real x = 1;
  Modelica.Fluid.Pipes.StaticPipe pipe;
end M;
