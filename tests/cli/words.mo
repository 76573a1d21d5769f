model Words "added words are plain names here"
  Real body(start = 1, fixed = true), element, constraint, memory;
  Real energy, bond, coordinate, inertia;
equation
  der(body) = -body;
  element = 2*body;
  constraint = 3;
  memory = constraint + 1;
  energy = memory;
  bond = energy;
  coordinate = bond;
  inertia = coordinate;
end Words;
