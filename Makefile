# mdlc: see README.md. `make demo` and `make test` do everything on a fresh Debian 12.
BUILD    ?= build
CC       ?= gcc
OPT      ?= -O2 -g
LLVM     ?= llvm-config-19
WARN      = -Wall -Wextra -Werror
CPPFLAGS  = -I. -I$(BUILD) -D_GNU_SOURCE -I/usr/include/suitesparse
CFLAGS    = -std=c17 $(OPT) $(WARN) $(SAN) -fno-math-errno -ffunction-sections -fdata-sections -MMD -MP

BASE     := $(wildcard ir/base/*.c)
IR       := $(wildcard ir/*.c ir/pass/*.c)
FRONTEND := $(filter-out frontend/main.c,$(wildcard frontend/*.c))
BACKEND  := $(wildcard backend/*.c)
RUNTIME  := $(wildcard runtime/*.c)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
GENERATED = $(BUILD)/frontend/parser.o $(BUILD)/frontend/lexer.o

LIBS = $(addprefix $(BUILD)/lib,frontend.a backend.a ir.a base.a runtime.a)

all: $(BUILD)/mdlc

$(BUILD)/libbase.a: $(call objects,$(BASE))
$(BUILD)/libir.a: $(call objects,$(IR))
$(BUILD)/libfrontend.a: $(call objects,$(FRONTEND)) $(GENERATED)
$(BUILD)/libbackend.a: $(call objects,$(BACKEND))
$(BUILD)/libruntime.a: $(call objects,$(RUNTIME))
$(BUILD)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/frontend/parser.c $(BUILD)/frontend/parser.h: frontend/parser.y
	@mkdir -p $(@D)
	bison -Wall -Werror -Wcounterexamples --header=$(BUILD)/frontend/parser.h -o $(BUILD)/frontend/parser.c $<
$(BUILD)/frontend/lexer.c $(BUILD)/frontend/lexer.h: frontend/lexer.l $(BUILD)/frontend/parser.h
	flex --header-file=$(BUILD)/frontend/lexer.h -o $(BUILD)/frontend/lexer.c $<
$(BUILD)/frontend/%.o: $(BUILD)/frontend/%.c
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(call objects,$(FRONTEND)): | $(BUILD)/frontend/parser.h $(BUILD)/frontend/lexer.h

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

clean:
	rm -rf build
.PHONY: all clean
