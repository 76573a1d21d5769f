// 12.9: functions of files that the standard library declares as external come with mdlc; none writes, and the one that says so was not successful.
// expect: kind = {2, 3, 1}
// expect: lines = 3
// expect: second = true
// expect: last = {false, true}
// expect: sizes = {2, 3}
// expect: a = {1, 2, 3, 4, 5, 6}
// expect: written = false
package P
  type FileType = enumeration(NoFile, RegularFile, Directory, SpecialFile);
  impure function stat
    input String name;
    output FileType fileType;
    external "C" fileType = ModelicaInternal_stat(name) annotation(Library = "ModelicaExternalC");
  end stat;
  function count
    input String fileName;
    output Integer n;
    external "C" n = ModelicaInternal_countLines(fileName) annotation(Library = "ModelicaExternalC");
  end count;
  function readLine
    input String fileName;
    input Integer lineNumber;
    output String string;
    output Boolean endOfFile;
    external "C" string = ModelicaInternal_readLine(fileName, lineNumber, endOfFile) annotation(Library = "ModelicaExternalC");
  end readLine;
  function isLine
    input String fileName;
    input Integer lineNumber;
    input String expected;
    output Boolean same;
    output Boolean endOfFile;
  protected
    String line;
  algorithm
    (line, endOfFile) := readLine(fileName, lineNumber);
    same := line == expected;
  end isLine;
  function readSizes
    input String fileName;
    input String matrixName;
    output Integer dim[2];
    external "C" ModelicaIO_readMatrixSizes(fileName, matrixName, dim) annotation(Library = {"ModelicaIO", "ModelicaMatIO", "zlib"});
  end readSizes;
  function read
    input String fileName;
    input String matrixName;
    input Integer rows;
    input Integer columns;
    input Boolean verboseRead = true;
    output Real matrix[rows, columns];
    external "C" ModelicaIO_readRealMatrix(fileName, matrixName, matrix, size(matrix, 1), size(matrix, 2), verboseRead)
      annotation(Library = {"ModelicaIO", "ModelicaMatIO", "zlib"});
  end read;
  impure function write
    input String fileName;
    input String matrixName;
    input Real matrix[:, :];
    input Boolean append = false;
    input String format = "4";
    output Boolean success;
    external "C" success = ModelicaIO_writeRealMatrix(fileName, matrixName, matrix, size(matrix, 1), size(matrix, 2), append, format)
      annotation(Library = {"ModelicaIO", "ModelicaMatIO", "zlib"});
  end write;
end P;
model M
  parameter String file = "tests/data/small_matrix.txt";
  P.FileType kind[3] = {pure(P.stat(file)), pure(P.stat("tests")), pure(P.stat("tests/nothing"))};
  Integer lines = P.count(file);
  Boolean second, last[2], other;
  parameter Integer sizes[2] = P.readSizes(file, "m");
  final parameter Real matrix[:, :] = P.read(file, "m", sizes[1], sizes[2]);
  Real a[6] = vector({matrix[div(k, 3) + 1, mod(k, 3) + 1] for k in 0:5});
  Boolean written;
equation
  (second, last[1]) = P.isLine(file, 2, "double m(2,3)");
  (other, last[2]) = P.isLine(file, 4, "");
  when initial() then
    written = P.write("tests/data/not_written.mat", "m", [1, 2]);
  end when;
end M;
