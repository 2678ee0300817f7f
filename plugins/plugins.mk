# SPDX-License-Identifier: GPL-2.0-or-later
#
# plugins.mk - shared objects that atwalk loads by --plugin NAME: a folder for each, which is
# linked with what it uses of the library. WITH_plugins=0 leaves them out; a static program
# cannot load any.

# Python is embedded by its stable ABI.
EMBED_CFLAGS := $(if $(STATIC)$(filter 0,$(WITH_python))$(if $(OWN),,cross),,$(shell \
                  $(PKGCONF) --exists 'python3-embed >= 3.11' 2>/dev/null && \
                  $(PKGCONF) --cflags python3-embed))
HAVE_embed  := $(if $(EMBED_CFLAGS),$(call links,Python.h,$(EMBED_CFLAGS) $(shell $(PKGCONF) --libs python3-embed)))
LIBS_plugin_python := $(if $(HAVE_embed),$(shell $(PKGCONF) --libs python3-embed))

PLUGIN_NAMES := $(if $(STATIC)$(filter 0,$(WITH_plugins)),,example ihex markdown criu numa drm $(if $(HAVE_embed),python))
PLUGINS     := $(PLUGIN_NAMES:%=$(O)/plugins/%.so)
PLUGINDIR   ?= $(LIBDIR)/atwalk/plugins
# The program looks for them from where it lies.
PLUGINS_FOLDER := $(shell realpath -ms --relative-to='$(PREFIX)/bin' '$(PLUGINDIR)')

# Another folder is another program.
$(O)/plugins_folder: FORCE
	@mkdir -p $(O); echo '$(PLUGINS_FOLDER)' | cmp -s - $@ || echo '$(PLUGINS_FOLDER)' >$@
$(O)/cli/common/plugins.o: $(O)/plugins_folder
CFLAGS_plugins.o := -DPLUGINS_FOLDER='"$(PLUGINS_FOLDER)"'

CFLAGS_plugin.o := $(if $(STATIC),,-DHAVE_PLUGINS=1)

# Others than their owner must not be able to write them.
define plugin
$(O)/plugins/$(1).so: $(patsubst %.c,$(O)/%.o,$(sort $(wildcard plugins/$(1)/*.c))) $(LIB_INT)
	@mkdir -p $$(@D) && chmod go-w $$(@D)
	$$(call say,LD,$$@)$(CC) $(CFLAGS) -shared -Wl,--exclude-libs,ALL -o $$@.new \
	  $$(filter %.o,$$^) $(LIB_INT) $(LDFLAGS) $$(LIBS_plugin_$(1)) && \
	  chmod go-w $$@.new && mv -f $$@.new $$@
endef
$(foreach p,$(PLUGIN_NAMES),$(eval $(call plugin,$(p))))

$(patsubst %.c,$(O)/%.o,$(wildcard plugins/python/*.c)): private \
  ALL_CFLAGS += -DPy_LIMITED_API=0x030b0000 $(patsubst -I%,-isystem %,$(EMBED_CFLAGS))

.PHONY: install-plugins
install-plugins: $(PLUGINS)
	$(INSTALL) -d -m 755 $(DESTDIR)$(PLUGINDIR)
	$(INSTALL) -m 644 $(filter-out %/example.so,$(PLUGINS)) $(DESTDIR)$(PLUGINDIR)/
