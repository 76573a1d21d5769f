// 12.9: a folder has no lines, and reading it is an error, as of a file that cannot be read.
// fails: the file 'tests/data' cannot be read: Is a directory
model M
  impure function count
    input String fileName;
    output Integer n;
    external "C" n = ModelicaInternal_countLines(fileName) annotation(Library = "ModelicaExternalC");
  end count;
  Integer lines;
equation
  when initial() then
    lines = count("tests/data");
  end when;
end M;
