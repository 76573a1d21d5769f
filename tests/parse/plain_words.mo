model M
  body memory;
  element x;
  energy bond;
  coordinate kinetic(start = 1), formalism;
equation
  bond(energy);
  energy = 3;
end M;
