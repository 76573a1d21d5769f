#!/bin/sh
# Who may include whom: `make layers`. Prints each offending include; exit status 1 when there is one.
#   frontend -> ir -> base;  backend -> ir;  ir, backend -> runtime/model.h; frontend, ir -> runtime/template.h, texts.h and standard.h;  runtime -> runtime only;
#   frontend/analysis -> base and what the runtime gives (linearize.h, sim.h);
#   what the command line and built simulators share is in runtime/options.h, nearest.h, number.h and table.h, what a run gives in runtime/sim.h.
# frontend/driver/ is the composition root and may include every layer.
set -u
cd "$(dirname "$0")/.."
bad=0
check() { # FOLDER ALLOWED_REGEX [FOLDERS_INSIDE]
    found=$(grep -nE '^#include "(frontend|ir|backend|runtime)/' -r "$1" --include='*.[chly]' |
        grep -vE "^(${3:-none}):" | grep -vE "$2" || true)
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
        bad=1
    fi
}
check frontend '#include "(frontend/[^/]*\.(h|def)|ir/|runtime/(options|table|model|nearest|number|sim|standard|template|texts)\.h)' 'frontend/(driver|analysis)/[^:]*'
check ir/base '#include "ir/base/'
check ir '#include "(ir/|runtime/(model|template|texts)\.h)'
check frontend/analysis '#include "(frontend/analysis/|ir/base/|runtime/(linearize|model|sim|table)\.h)'
check backend '#include "(backend/|ir/|runtime/model\.h)'
check runtime '#include "runtime/'
llvm=$(grep -lE '#include <llvm-c' -r frontend ir backend runtime | grep -v '^backend/ll[_.]' || true)
sundials=$(grep -lE '#include <(sundials|ida|kinsol|nvector|sunlinsol|sunmatrix|klu|suitesparse)' -r frontend ir backend || true)
for file in $llvm $sundials; do
    echo "$file: a library of another layer"
    bad=1
done
[ "$bad" = 0 ] && echo "layers: fine"
exit "$bad"
