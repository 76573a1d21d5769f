# mdlc: see README.md. `make demo` and `make test` do everything on a fresh Debian 12.
# Rules of make itself are tried for every header otherwise: a tenth of a second at every start.
MAKEFLAGS += -r
BUILD    ?= build
# The same folder has one name: what an object depends on is written with it.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
CC       ?= gcc
# Locations of optimised variables are a seventh of the time; OPT="-O0 -g" is for who debugs.
OPT      ?= -O2 -g -fno-var-tracking
LLVM     ?= llvm-config-19
WARN      = -Wall -Wextra -Wcast-align=strict -Werror $(if $(SAN),-Wno-format-truncation -Wno-maybe-uninitialized) # false alarms of -Og and the sanitizers
CPPFLAGS  = -I. -I$(BUILD) -D_GNU_SOURCE -I/usr/include/suitesparse
CFLAGS    = -std=c17 -pipe $(OPT) $(WARN) $(SAN) -fno-math-errno -ffunction-sections -fdata-sections -MMD -MP

# A floor is a folder with a room in each folder of its own (tests/rooms has their order). What comes with every model is the base.
BASE     := $(wildcard ir/base/*.c runtime/model/*.c)
IR       := $(filter-out $(BASE),$(wildcard ir/*/*.c))
DRIVER   := $(wildcard frontend/command/*.c frontend/studies/*.c frontend/session/*.c frontend/analysis/*.c)
FRONTEND := $(filter-out $(DRIVER),$(wildcard frontend/*/*.c))
BACKEND  := $(wildcard backend/*/*.c)
STARTS   := runtime/shell/simulator_start.c runtime/shell/embed_program.c $(wildcard runtime/fmu/*.c)
RUNTIME  := $(filter-out $(STARTS),$(wildcard runtime/*/*.c))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
GENERATED = $(addprefix $(BUILD)/frontend/,text/parser.o text/lexer.o design/study_parser.o design/study_lexer.o page/assets.o)

LIBS = $(addprefix $(BUILD)/lib,frontend.a backend.a ir.a base.a runtime.a)

# LLVM is linked statically and lean: only two code generators (AArch64 for units), ORC and the passes. The shared libLLVM costs
# 20 ms at every start. lld links it in a second. ARM= leaves the second one out: references to it are weak (backend/llvm/ll_module.c), so that
# the linker is told to take it.
ARM          = aarch64codegen
comma        = ,
ARM_WANTED   = $(if $(ARM),$(addprefix -Wl$(comma)-u$(comma)LLVMInitializeAArch64,TargetInfo Target TargetMC AsmPrinter))
LLVM_INCLUDE = -I$(shell $(LLVM) --includedir)
LLVM_STATIC  = -no-pie -B$(shell $(LLVM) --bindir) -fuse-ld=lld -Wl,--gc-sections -static-libstdc++ -static-libgcc \
               $(shell $(LLVM) --link-static --ldflags --libs x86codegen $(ARM) orcjit passes core x86asmparser)
LLVM_LIBS    = $(LLVM_STATIC) -Wl,-Bstatic -lz -lzstd -llzma -Wl,-Bdynamic -lrt -ldl -lm
SUNDIALS     = -Wl,-Bstatic $(addprefix -l,$(NUMERICS)) -Wl,-Bdynamic

# V=1 shows whole commands.
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))

all: $(BUILD)/mdlc $(BUILD)/libsimulator.a $(BUILD)/include/mdl_embed.h linked

# The interface of models in other programs, where their compiler finds it.
$(BUILD)/include/mdl_embed.h: runtime/shell/embed.h
	@mkdir -p $(@D)
	@cp $< $@

# Of the objects themselves: an archive for each floor between them costs a fifth of the time from a change to a program.
# The same without what makes code for other computers is that of the Python package, which is to be small: it asks for `lean`.
$(BUILD)/lean/mdlc: ARM =
$(BUILD)/mdlc $(BUILD)/lean/mdlc: $(sort $(call objects,$(DRIVER) $(FRONTEND) $(BACKEND) $(IR) $(BASE) $(RUNTIME)) $(GENERATED))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(SAN) -o $@ $^ $(SUNDIALS) $(LLVM_LIBS) $(ARM_WANTED) -l:libexpat.a
lean: $(BUILD)/lean/mdlc
$(BUILD)/backend/llvm/ll_%.o: CPPFLAGS += $(LLVM_INCLUDE)
# Where the library and the examples are, for a program that is not built in its tree.
LINKED = $(if $(filter build build/%,$(BUILD)),,$(BUILD)/stdlib $(BUILD)/examples)
$(LINKED): $(BUILD)/%: | $(BUILD)/mdlc
	@ln -sfn $(CURDIR)/$* $@
linked: $(LINKED)

# What `mdlc build` links models with: the runtime and the libraries it needs, in one archive. A bare linker finds there what the compiler has of
# functions of its own, too (products of complex numbers, the kind of processor), but for its decimal numbers, which nobody has and which are a sixth of all.
NUMERICS = sundials_ida sundials_cvode sundials_arkode sundials_sunnonlinsolfixedpoint sundials_sunlinsolklu \
           sundials_sunlinsoldense sundials_sunmatrixsparse sundials_sunmatrixdense sundials_nvecserial klu amd colamd btf \
           suitesparseconfig
$(BUILD)/libsimulator.a: $(call objects,$(RUNTIME) $(STARTS))
	$(call say,AR,$@)
	$(Q)rm -f $@; { echo create $@; for o in $^; do echo addmod $$o; done; \
	for l in $(NUMERICS) gcc; do echo addlib $$($(CC) -print-file-name=lib$$l.a); done; echo save; echo end; } | ar -M
	$(Q)ar t $@ | grep -E '^(bid|_isinfd)|_[sdt]d(_to_[a-z]+)?\.o$$' | xargs -r ar d $@
# Products of complex numbers as they are written, without a call that takes care of infinities.
$(BUILD)/runtime/linear/radau_rule.o: CFLAGS += -fcx-limited-range
# A model may also become a shared library, and with it the runtime.
$(call objects,$(RUNTIME) $(STARTS) $(wildcard runtime/model/*.c)): CFLAGS += -fPIC -fno-semantic-interposition
$(BUILD)/frontend/external/native.o: CPPFLAGS += '-DMDLC_LINK_FLAGS="$(SAN)"'

# Tests and benchmarks of the back ends need expressions and programs only.
# Machine code of an elimination is held against its lists.
STANDING = $(call objects,runtime/linear/standing.c runtime/linear/standing_code.c runtime/linear/block_vectors.c runtime/linear/markowitz.c)
$(BUILD)/tests/backend/straight: $(STANDING)
$(BUILD)/tests/backend/straight: ALSO = $(STANDING)
BACKEND_LIBS = $(BUILD)/libbackend.a $(call objects,$(wildcard ir/expr/*.c) ir/dae/sys.c) $(BUILD)/libbase.a
$(BUILD)/tests/backend/%: $(BUILD)/tests/backend/%.o $(BACKEND_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -o $@ $< $(ALSO) $(BACKEND_LIBS) $(LLVM_LIBS)
CODEGEN_BENCHES = $(addprefix $(BUILD)/tests/bench/,codegen codegen_latency)
$(CODEGEN_BENCHES): %: %.o $(BACKEND_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -o $@ $< $(BACKEND_LIBS) $(LLVM_LIBS)

# This one has the passes, too.
CALLS_LIBS = $(addprefix $(BUILD)/lib,backend.a ir.a base.a runtime.a)
$(BUILD)/tests/bench/calls: $(BUILD)/tests/bench/calls.o $(CALLS_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -o $@ $< $(CALLS_LIBS) $(LLVM_LIBS) $(SUNDIALS) -lm

$(BUILD)/libbase.a: $(call objects,$(BASE))
$(BUILD)/libir.a: $(call objects,$(IR))
$(BUILD)/libfrontend.a: $(call objects,$(FRONTEND)) $(GENERATED)
$(BUILD)/libbackend.a: $(call objects,$(BACKEND))
$(BUILD)/libruntime.a: $(call objects,$(RUNTIME))
# Thin: they name their objects, so that none is copied for a change in one.
$(BUILD)/lib%.a:
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsT $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/frontend/text/parser.c $(BUILD)/frontend/text/parser.h &: frontend/text/parser.y
	@mkdir -p $(@D)
	$(call say,YACC,$<)
	$(Q)bison -Wall -Werror -Wcounterexamples --header=$(BUILD)/frontend/text/parser.h -o $(BUILD)/frontend/text/parser.c $<
$(BUILD)/frontend/text/lexer.c $(BUILD)/frontend/text/lexer.h &: frontend/text/lexer.l $(BUILD)/frontend/text/parser.h
	$(call say,LEX,$<)
	$(Q)flex --header-file=$(BUILD)/frontend/text/lexer.h -o $(BUILD)/frontend/text/lexer.c $<
$(BUILD)/frontend/design/study_parser.c $(BUILD)/frontend/design/study_parser.h &: frontend/design/study_parser.y
	@mkdir -p $(@D)
	$(call say,YACC,$<)
	$(Q)bison -Wall -Werror -Wcounterexamples --header=$(BUILD)/frontend/design/study_parser.h -o $(BUILD)/frontend/design/study_parser.c $<
$(BUILD)/frontend/design/study_lexer.c: frontend/design/study_lexer.l $(BUILD)/frontend/design/study_parser.h
	@mkdir -p $(@D)
	$(call say,LEX,$<)
	$(Q)flex -o $(BUILD)/frontend/design/study_lexer.c $<
# Styles and scripts of pages, as arrays that end with 0.
ASSETS = frontend/page/explain.txt frontend/page/vocabulary.txt frontend/page/everyday.txt frontend/page/page.css frontend/page/plot.js frontend/page/unfold.js frontend/page/links.js frontend/page/motion.js \
         frontend/export/licences.txt frontend/export/licences_sparse.txt LICENSE
$(BUILD)/frontend/page/assets.c: $(ASSETS)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q){ for f in $(ASSETS); do \
	    echo "extern const unsigned char asset_$$(basename $$f | tr . _)[]; const unsigned char asset_$$(basename $$f | tr . _)[] = {"; \
	    od -An -v -tu1 $$f | sed 's/  *\([0-9][0-9]*\)/\1,/g'; echo "0};"; done; } >$@
$(BUILD)/frontend/%.o: $(BUILD)/frontend/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(call objects,$(FRONTEND)): | $(BUILD)/frontend/text/parser.h $(BUILD)/frontend/text/lexer.h $(BUILD)/frontend/design/study_parser.h

-include $(shell find $(BUILD) \( -path $(BUILD)/asan -o -path $(BUILD)/importer -o -path $(BUILD)/peers -o -path $(BUILD)/slurm \) -prune -o -name '*.d' -type f -print 2>/dev/null)

# --- what people call

PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
ASAN    = build/asan
# What a finding needs is its line. Three checks of pointers are left to the address sanitizer, which sees the access itself, and alignment to
# the compiler (-Wcast-align): they are three quarters of all descriptions of places, which a search for leaks reads at the end of every
# process, and with -O1 instead of -Og more than a third of the building time.
SANITIZED = BUILD=$(ASAN) OPT="-Og -g1 -fno-var-tracking" SAN="-fsanitize=address,undefined \
            -fno-sanitize=null,object-size,alignment,pointer-overflow -fno-sanitize-recover=undefined"
TEST_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/ir/*.c tests/runtime/*.c tests/backend/*.c tests/tools/*.c))

# Against SuiteSparse BTF.
$(BUILD)/tests/ir/structure_random: $(BUILD)/tests/ir/structure_random.o $(BUILD)/libir.a $(BUILD)/libbase.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $< $(BUILD)/libir.a $(BUILD)/libbase.a -lbtf -lsuitesparseconfig -lm
$(BUILD)/tests/ir/%: $(BUILD)/tests/ir/%.o $(BUILD)/libir.a $(BUILD)/libbase.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $< $(BUILD)/libir.a $(BUILD)/libbase.a -lm
$(BUILD)/tests/runtime/%: $(BUILD)/tests/runtime/%.o $(BUILD)/libruntime.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $< $(BUILD)/libruntime.a $(SUNDIALS) -lm
# The interpreter is enough here, so LLVM is not linked.
$(BUILD)/tests/tools/jaccheck: $(BUILD)/tests/tools/jaccheck.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -Wl,--gc-sections -o $@ $< $(addprefix $(BUILD)/lib,frontend.a backend.a ir.a base.a) -lm
$(BUILD)/tests/tools/rules: $(BUILD)/tests/tools/rules.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -Wl,--gc-sections -o $@ $< $(addprefix $(BUILD)/lib,frontend.a backend.a ir.a base.a runtime.a) $(SUNDIALS) -lm
# Calls of functions are led to the program.
$(BUILD)/tests/tools/function_ways: $(BUILD)/tests/tools/function_ways.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -Wl,--gc-sections,--wrap=function_execute -o $@ $< $(LIBS) $(LIBS) $(SUNDIALS) $(LLVM_LIBS)
$(BUILD)/tests/tools/programs: $(BUILD)/tests/tools/programs.o $(BUILD)/libbackend.a $(BUILD)/libir.a $(BUILD)/libbase.a
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -o $@ $< $(addprefix $(BUILD)/lib,backend.a ir.a base.a) $(LLVM_LIBS)
RANDOM_KINDS = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/random/*.c))
$(BUILD)/tests/tools/random_model: $(BUILD)/tests/tools/random_model.o $(RANDOM_KINDS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ -lm
$(BUILD)/tests/tools/%: $(BUILD)/tests/tools/%.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $< -lm
# Fuzz targets; driver.c stands in for libFuzzer unless LINK_FUZZER brings that (tests/fuzz/long.sh), whose changes of texts are custom.c.
FUZZ_TARGETS = $(addprefix $(BUILD)/tests/fuzz/,scan parse flatten flat_text programs_text)
FUZZ_LIBS    = $(addprefix $(BUILD)/lib,frontend.a ir.a base.a)
$(FUZZ_TARGETS): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/mutate.o $(BUILD)/tests/fuzz/$(if $(LINK_FUZZER),custom,driver).o $(FUZZ_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) $(LINK_FUZZER) -Wl,--gc-sections -o $@ $(filter %.o,$^) $(FUZZ_LIBS) -lm
$(BUILD)/tests/fuzz/scan.o: | $(BUILD)/frontend/text/parser.h
$(BUILD)/frontend/text/parser.o: CFLAGS += -Wno-unused-but-set-variable
PEERS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/peer*.c)) $(BUILD)/tests/bench/factors
$(PEERS): %: %.o $(BUILD)/libruntime.a
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(BUILD)/libruntime.a $(SUNDIALS) -lm

$(BUILD)/tests/bench/structural: $(BUILD)/tests/bench/structural.o $(BUILD)/libir.a $(BUILD)/libbase.a
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(BUILD)/libir.a $(BUILD)/libbase.a -lm

packages:
	@.ci/packages
programs: all $(TEST_PROGRAMS) $(FUZZ_TARGETS)
# What CASES needs: `make check CASES=errors/` builds nothing for the other folders.
TOOLS    = $(filter $(BUILD)/tests/tools/%,$(TEST_PROGRAMS))
NEEDS   := $(if $(findstring /,$(CASES)),$(firstword $(subst /, ,$(CASES))))
chosen: all $(or $(if $(filter parse fmt errors elab show pass layers,$(NEEDS)),all),\
    $(if $(filter sim cli forms,$(NEEDS)),$(TOOLS)), $(if $(filter language,$(NEEDS)),$(BUILD)/tests/tools/rules),\
    $(if $(filter fuzz,$(NEEDS)),$(FUZZ_TARGETS)), $(if $(filter ir runtime backend,$(NEEDS)),$(filter $(BUILD)/tests/$(NEEDS)/%,$(TEST_PROGRAMS))),\
    programs)

# An importer of functional mock-up units of other people, and what runs tests and notebooks of the Python package, where they can be had:
# tests/fmi and tests/python use them.
importer:
	@[ -d build/importer/lib/python3*/site-packages/casadi ] || { mkdir -p build && python3 -m venv build/importer && \
	    build/importer/bin/pip install -q fmpy==0.3.32 casadi==3.8.2 pytest==9.2.0 nbclient==0.11.0 ipykernel==7.4.0 mypy==2.4.1; } || \
	    echo "FMPy and pytest cannot be had (python3-venv and a network are needed): tests/fmi and tests/python are skipped"
	@[ ! -d build/importer ] || tests/reference_fmus.sh build/importer/reference 2>/dev/null || \
	    echo "The Reference-FMUs of the Modelica Association cannot be had (cmake and a network are needed): fmi/coupled has units of mdlc only, and fmi/reference is skipped"
# Debian's Slurm, unpacked and not installed, where it can be had: tests/cli/slurm.check uses it.
slurm:
	@tests/slurm.sh build/slurm 2>/dev/null || echo "Slurm cannot be had (packages of Debian and a network are needed): cli/slurm is skipped"
# The Python package as a wheel, into $(BUILD)/wheels (PEP 517: pip install . does the same), and all its notebooks.
wheel:
	@BUILD=$(abspath $(BUILD)) python3 frontend/python/wheel_backend.py $(BUILD)/wheels
notebooks: importer
	$(MAKE) -j$(JOBS) all
	BUILD=$(abspath $(BUILD)) NOTEBOOKS=all build/importer/bin/python -m pytest -q -p no:cacheprovider tests/python/test_notebooks.py
# The wheel in a Debian that has Python alone (as root, with debootstrap).
bare: wheel
	tests/python/bare.sh $(BUILD)/wheels/*.whl
# What the suite takes samples of: all notebooks, the codes of all cases of tests/errors, and the package's hints.
python: importer
	$(MAKE) -j$(JOBS) all
	BUILD=$(abspath $(BUILD)) NOTEBOOKS=all ALL=1 HINTS=1 build/importer/bin/python -m pytest -q -p no:cacheprovider tests/python
# All examples as units of FMI 2 and 3, run by that importer and compared with native runs. EXAMPLES=linkage selects; FILES='tests/sim/*.mdl' are others.
fmus: packages importer
	$(MAKE) -j$(JOBS) all
	BUILD=$(abspath $(BUILD)) $(or $(FMPY),build/importer/bin/python) tests/fmi/examples.py $(BUILD)/fmus '$(EXAMPLES)' '$(FILES)'
# The runtime of units for another platform, with the cross compiler of that name: TARGET=aarch64-linux-gnu or x86_64-w64-mingw32.
runtime:
	@$(MAKE) --no-print-directory -f runtime/foreign.mk -j$(JOBS) BUILD=$(BUILD) TARGET=$(TARGET)
# What comes over the network comes while the first build is made.
test: packages
	$(MAKE) -j$(shell expr $(JOBS) + 1) importer slurm programs
	$(MAKE) -j$(JOBS) $(SANITIZED) programs
	tests/all.sh $(BUILD) $(ASAN)
check: packages
	$(MAKE) -j$(JOBS) chosen
	tests/shards.sh $(BUILD) $(CASES)
check-asan: packages
	$(MAKE) -j$(JOBS) $(SANITIZED) chosen
	tests/shards.sh $(ASAN) $(CASES)
demo: packages
	$(MAKE) -j$(JOBS) all
	examples/quarter_car/demo.sh $(BUILD)
# Models of each kind, from seed FIRST on, with all solvers.
MODELS ?= 100
FIRST  ?= 1000
random: packages
	$(MAKE) -j$(JOBS) all $(BUILD)/tests/tools/random_model
	tests/random.sh $(BUILD) $(FIRST) $(MODELS)
fuzz-targets: $(FUZZ_TARGETS)
# A long run with sanitizers: SECONDS for each target with libFuzzer, where clang has it; otherwise RUNS inputs from SEED.
SECONDS ?= 600
fuzz: packages
	tests/fuzz/long.sh $(SECONDS) $(JOBS)
bench: packages
	$(MAKE) -j$(JOBS) all $(BUILD)/tests/tools/measure $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
	tests/bench/run.sh $(BUILD)
# The same models through other tools, in a Python environment of their own and with Debian's ngspice.
bench-peers:
	@.ci/packages ngspice python3-venv
	@[ -d build/peers/lib ] || { python3 -m venv build/peers && build/peers/bin/pip install -q numpy==2.4.6 scipy==1.17.1 casadi==3.8.2 exudyn==1.13.6 rumoca==0.10.2; }
	$(MAKE) -j$(JOBS) all $(BUILD)/tests/bench/peer_ivp
	build/peers/bin/python tests/bench/against.py $(BUILD)/mdlc $(BUILD)/tests/bench/peer_ivp
help:
	@echo "make demo         install what is missing, build, run and draw the quarter car"
	@echo "make test         install what is missing, build, run the suite, also under sanitizers"
	@echo "make              build $(BUILD)/mdlc"
	@echo "make check        run the suite on the ordinary build; CASES=errors/ selects"
	@echo "make check-asan   the same on the sanitizer build"
	@echo "make fuzz         changed models against crashes, with libFuzzer where clang has it; SECONDS for each target"
	@echo "make random       random models, each written twice, against each other with all solvers; MODELS of each kind"
	@echo "make fmus         the examples as functional mock-up units, run by FMPy; EXAMPLES=linkage selects"
	@echo "make runtime      TARGET=x86_64-w64-mingw32 or aarch64-linux-gnu: what mdlc build --platform links for it"
	@echo "make wheel        the Python package, into $(BUILD)/wheels"
	@echo "make notebooks    runs the notebooks of docs/notebooks and compares what they print"
	@echo "make bare         that package in a Debian that has Python alone (as root)"
	@echo "make python       all tests of the Python package, with all notebooks, errors and hints"
	@echo "make bench        times and ratios against hand-written C"
	@echo "make bench-peers  time to one error beside CasADi, Rumoca, Exudyn, ngspice and hand-written C"
	@echo "make fmt          canonical layout of the library and the examples"
	@echo "make docs         tables in docs/ that are made from the source"
	@echo "make layers wc    whether rooms use each other as tests/rooms says; the largest files"
	@echo "make install      into PREFIX (default /usr/local), below DESTDIR for packages; make uninstall takes it away"
	@echo "make deb          a Debian package, into $(BUILD)"
layers:
	@tests/layers.sh $(wildcard $(BUILD))
wc:
	@wc -l $$(git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' '*.mdl' '*.sh') | sort -rn | head -30
docs: all
	docs/generate.sh $(BUILD)/mdlc docs
	if command -v dot >/dev/null; then docs/rooms.sh >docs/rooms.svg; fi
fmt: all
	$(BUILD)/mdlc fmt $$(find stdlib -name "*.mdl") examples/*/*.mdl
# Where shells look for completions; Debian's zsh has a folder of its own for packages.
BASH_PLACE = share/bash-completion/completions/mdlc
ZSH_PLACE  = share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)/_mdlc
FISH_PLACE = share/fish/vendor_completions.d/mdlc.fish
install: all
	@$(MAKE) --no-print-directory install-files
# Of what has been built.
install-files: PROGRAM = $(BUILD)/mdlc
install-files:
	install -D -s $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/mdlc
	install -D -m 644 $(BUILD)/libsimulator.a $(DESTDIR)$(PREFIX)/lib/mdlc/libsimulator.a
	strip --strip-debug --enable-deterministic-archives $(DESTDIR)$(PREFIX)/lib/mdlc/libsimulator.a
	for archive in $(wildcard $(BUILD)/libsimulator-*.a); do \
	    install -D -m 644 $$archive $(DESTDIR)$(PREFIX)/lib/mdlc/$$(basename $$archive); done
	install -D -m 644 $(BUILD)/include/mdl_embed.h $(DESTDIR)$(PREFIX)/include/mdl_embed.h
	for file in $$(find stdlib -name '*.mdl'); do \
	    install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/mdlc/$$file; done
	for file in $$(find docs -name '*.md' -o -name '*.svg' -o -name '*.png'); do \
	    install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/mdlc/$$file; done
	for folder in . $(notdir $(patsubst %/,%,$(wildcard examples/*/))); do \
	    install -d $(DESTDIR)$(PREFIX)/share/mdlc/examples/$$folder; \
	    install -m 644 $$(find examples/$$folder -maxdepth 1 -type f) $(DESTDIR)$(PREFIX)/share/mdlc/examples/$$folder; done
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(BUILD)/mdlc man | gzip -9n >$(DESTDIR)$(PREFIX)/share/man/man1/mdlc.1.gz
	$(BUILD)/mdlc completions bash >$(DESTDIR)$(PREFIX)/$(BASH_PLACE)
	install -d $(DESTDIR)$(PREFIX)/$(dir $(ZSH_PLACE)) $(DESTDIR)$(PREFIX)/$(dir $(FISH_PLACE))
	$(BUILD)/mdlc completions zsh >$(DESTDIR)$(PREFIX)/$(ZSH_PLACE)
	$(BUILD)/mdlc completions fish >$(DESTDIR)$(PREFIX)/$(FISH_PLACE)
# Takes away what `make install` with the same PREFIX and DESTDIR has brought.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/mdlc include/mdl_embed.h share/man/man1/mdlc.1.gz $(BASH_PLACE) $(ZSH_PLACE) $(FISH_PLACE))
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,lib/mdlc share/mdlc)
# A package for Debian 12, into $(BUILD).
deb: all
	.ci/deb.sh $(abspath $(BUILD))
clean:
	rm -rf build
.PHONY: all lean runtime linked help packages programs chosen test check check-asan demo random fuzz fuzz-targets importer slurm wheel bare notebooks python fmus bench bench-peers layers wc docs fmt install install-files uninstall deb clean
.SECONDARY:
