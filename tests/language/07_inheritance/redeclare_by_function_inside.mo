// 7.3: A function of a base is redeclared as one that stands in the class itself, with an input that is a parameter of it.
// expect: y = 5 at 1
package P
  partial function Position
    input Real s;
    output Real r;
  end Position;
  model Base
    replaceable function position = Position;
  end Base;
  model Circle
    extends Base(redeclare function position = circle(radius = radius));
    parameter Real radius = 4;
  protected
    function circle
      extends Position;
      input Real radius = 1;
    algorithm
      r := s*radius;
    end circle;
  end Circle;
  model Tyre
    outer Base road;
    Real y = road.position(time);
  end Tyre;
end P;

model M
  P.Tyre tyre;
  inner P.Circle road(radius = 5);
  Real y = tyre.y;
end M;
