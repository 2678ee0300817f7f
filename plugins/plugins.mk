# SPDX-License-Identifier: GPL-2.0-or-later
#
# plugins.mk - shared objects that atwalk loads by --plugin NAME: a folder for each, which is
# linked with what it uses of the library. WITH_plugins=0 leaves them out; a static program
# cannot load any.

PLUGIN_NAMES := $(if $(STATIC)$(filter 0,$(WITH_plugins)),,example numa drm)
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

.PHONY: install-plugins
install-plugins: $(PLUGINS)
	$(INSTALL) -d -m 755 $(DESTDIR)$(PLUGINDIR)
	$(INSTALL) -m 644 $(PLUGINS) $(DESTDIR)$(PLUGINDIR)/
