# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Python package atwalk: one extension for the stable ABI of Python 3.11 and later.
# WITH_python=0 leaves it out.

PYTHON_CFLAGS := $(if $(STATIC)$(filter 0,$(WITH_python))$(if $(OWN),,cross),,$(shell \
                   $(PKGCONF) --exists 'python3 >= 3.11' 2>/dev/null && \
                   $(PKGCONF) --cflags python3))
HAVE_python := $(if $(PYTHON_CFLAGS),$(call links,Python.h,$(PYTHON_CFLAGS)))
PYTHON_VERSION := $(if $(HAVE_python),$(shell $(PKGCONF) --modversion python3))
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
# Where the installed module looks for the library; empty: where every program does.
PYTHON_RPATH ?= $(LIBDIR)
PYTHON_LINK = -Wl,-rpath,$(PYTHON_RPATH)
PYTHON_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard python/*.c)))
PYTHON_FILES := $(sort $(wildcard python/atwalk/*.py python/atwalk/*.pyi) python/atwalk/py.typed)
PYTHON_MODULE := $(if $(HAVE_python),$(O)/python/atwalk/_atwalk.abi3.so)

$(PYTHON_OBJ): private ALL_CFLAGS += -DPy_LIMITED_API=0x030b0000 $(patsubst -I%,-isystem %,$(PYTHON_CFLAGS))

# It finds the library of this build, or where `make install` puts it.
$(O)/python/atwalk/_atwalk.abi3.so: $(PYTHON_OBJ) $(PYTHON_FILES) $(LIB_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)cp -f $(PYTHON_FILES) $(@D)/ && \
	  $(CC) $(CFLAGS) -shared -o $@ $(PYTHON_OBJ) $(LDFLAGS) -L$(O) -latwalk \
	  -Wl,-rpath,'$$ORIGIN/../..' -pthread

.PHONY: install-python
install-python: $(PYTHON_MODULE)
	$(INSTALL) -d $(DESTDIR)$(PYTHONDIR)/atwalk
	$(INSTALL) -m 644 $(PYTHON_FILES) $(DESTDIR)$(PYTHONDIR)/atwalk/
	$(CC) $(CFLAGS) -shared -o $(DESTDIR)$(PYTHONDIR)/atwalk/_atwalk.abi3.so $(PYTHON_OBJ) \
	  $(LDFLAGS) -L$(O) -latwalk $(if $(PYTHON_RPATH),$(PYTHON_LINK)) -pthread
