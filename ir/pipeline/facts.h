// facts.h: what is said to hold between passes, looked at.
#ifndef MDLC_IR_PIPELINE_FACTS_H
#define MDLC_IR_PIPELINE_FACTS_H

#include "ir/pipeline/pipeline.h"

// The name of the fact 1 << bit, as docs/passes.md has it; NULL behind the last.
const char *fact_name(uint32_t bit);
// Whether the model behind this pass of the table is what `facts` of the compilation say, as far as that can be seen in time linear in
// the model, and has none of the operators that this pass and those before it remove (ir/expr/op.def). Otherwise `why` has a line. Nothing
// in the model changes but memos.
bool facts_verify(Compilation *compilation, uint32_t pass, Out *why);

#endif
