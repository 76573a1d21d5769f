#!/bin/sh
# The words of the language as a dictionary for libFuzzer. usage: tests/fuzz/modelica.sh > FILE
top=$(cd "$(dirname "$0")/../.." && pwd)
sed -n 's/^\(KEYWORD\|CONTEXT\)([A-Z0-9_]*, *"\([^"]*\)").*/"\2 "/p' "$top/frontend/text/keyword.def"
sed -n 's/^BUILTIN("\([^"]*\)".*/"\1("/p' "$top/frontend/value/builtin.def"
printf '"%s"\n' '==' '<>' ':=' '.*' '.+' '.^' '/0' '1e308' '-1' '1:0' '[1]' '[:]' '{' '}' '/*' '//' '\"' 'end for;' 'end if;' 'end when;' \
    'Real ' 'Integer ' 'Boolean ' 'String ' 'time' 'start=' 'fixed=true' 'StateSelect.' 'Connections.root('
