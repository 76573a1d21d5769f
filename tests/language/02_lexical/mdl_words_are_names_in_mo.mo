// 2.3.3: In .mo files the words of .mdl are identifiers.
// expect: body = 1
// expect: memory = 2
// expect: element = 3
model M
  parameter Real body = 1, memory = 2, element = 3, constraint = 4, energy = 5, bond = 6, coordinate = 7;
end M;
