# The part of the runtime that functional mock-up units have in them, for another platform, in one archive that `mdlc build --platform` links with:
# `make runtime TARGET=aarch64-linux-gnu` or `TARGET=x86_64-w64-mingw32`, with Debian's cross compiler of that name. SUNDIALS and KLU are compiled
# from the sources that Debian has of the versions that are linked here (.ci/numerics.sh).
MAKEFLAGS += -r
BUILD    ?= build
TARGET   ?= aarch64-linux-gnu
PLATFORM := $(or $(patsubst %-linux-gnu,%-linux,$(filter %-linux-gnu,$(TARGET))),$(patsubst %-w64-mingw32,%-windows,$(filter %-w64-mingw32,$(TARGET))))
$(if $(filter aarch64-linux x86_64-windows,$(PLATFORM)),,$(error TARGET is aarch64-linux-gnu or x86_64-w64-mingw32, not '$(TARGET)'))
CC       := $(TARGET)-gcc
AR       := $(TARGET)-ar
FOLDER    = $(BUILD)/foreign/$(PLATFORM)
SOURCES   = $(BUILD)/foreign/sources
SUN       = $(SOURCES)/sundials
SPARSE    = $(SOURCES)/suitesparse
WARN      = -Wall -Wextra -Werror $(if $(findstring windows,$(PLATFORM)),-Wno-format -Wno-format-extra-args)
CPPFLAGS  = -I. -D_GNU_SOURCE -DNTIMER -isystem $(SOURCES)/include -isystem $(SUN)/include -isystem $(SUN)/src/sundials $(patsubst %,-I$(SPARSE)/%/Include,KLU BTF AMD COLAMD) -I$(SPARSE)/SuiteSparse_config
# The same numbers as on x86-64, but for the functions of libm: no product and sum in one.
CFLAGS    = -std=gnu17 -pipe -O2 -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections -MMD -MP $(if $(findstring linux,$(PLATFORM)),-fPIC -fno-semantic-interposition)

# A unit writes no files of results and has no command line, and chooses no method that needs CVODE or ARKODE.
LEFT_OUT  = $(addprefix result/,csv decimal decimal_wide mat profile_report table table_csv table_mat writer) \
            $(addprefix shell/,audit_columns embed embed_about embed_program embed_rates embed_run error_estimate options run_options run_program simulator simulator_start) \
            $(addprefix solver/,ode sense_stepper) study/named_values
RUNTIME   = $(filter-out $(patsubst %,runtime/%.c,$(LEFT_OUT)),$(wildcard runtime/*/*.c))
SUN_FILES = $(patsubst %,$(SUN)/src/%.c,$(addprefix ida/,ida ida_io ida_nls) nvector/serial/nvector_serial sunnonlinsol/newton/sunnonlinsol_newton \
            $(addprefix sundials/sundials_,context logger math nonlinearsolver nvector nvector_senswrapper))
SPARSE_FILES = $(patsubst %,$(SPARSE)/%.c,$(addprefix KLU/Source/klu,_analyze _analyze_given _defaults _diagnostics _dump _extract _factor _free_numeric \
            _free_symbolic _kernel _memory _refactor _scale _solve _sort _tsolve) KLU/Source/klu \
            $(addprefix BTF/Source/btf_,maxtrans order strongcomp) \
            $(addprefix AMD/Source/amd_,1 2 aat control defaults dump global info order post_tree postorder preprocess valid) \
            COLAMD/Source/colamd SuiteSparse_config/SuiteSparse_config)

OWN     = $(patsubst %.c,$(FOLDER)/%.o,$(RUNTIME))
OTHERS  = $(patsubst $(SOURCES)/%.c,$(FOLDER)/%.o,$(SUN_FILES) $(SPARSE_FILES))

$(BUILD)/libsimulator-$(PLATFORM).a: $(OWN) $(OTHERS)
	@printf '  AR   %s\n' $@
	@rm -f $@
	@$(AR) rcs $@ $^
$(OTHERS): $(FOLDER)/%.o: $(SOURCES)/%.c
	@mkdir -p $(@D)
	@printf '  CC   %s\n' $<
	@$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(OWN): $(FOLDER)/%.o: %.c | $(SOURCES)/ready
	@mkdir -p $(@D)
	@printf '  CC   %s\n' $<
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -c -o $@ $<
$(FOLDER)/runtime/linear/radau_rule.o: CFLAGS += -fcx-limited-range
$(SUN_FILES) $(SPARSE_FILES): | $(SOURCES)/ready ;
$(SOURCES)/ready: .ci/numerics.sh
	@command -v $(CC) >/dev/null || { echo "$(CC) is not there: Debian has it in gcc-$(if $(findstring windows,$(PLATFORM)),mingw-w64-x86-64-posix,$(TARGET))"; exit 1; }
	@.ci/numerics.sh $(SOURCES)
-include $(shell find $(FOLDER) -name '*.d' -type f 2>/dev/null)
