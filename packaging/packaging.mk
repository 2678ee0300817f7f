# SPDX-License-Identifier: GPL-2.0-or-later
#
# packaging.mk - archives and packages of the commit that is checked out.
#
# make dist   build/dist/atwalk-VERSION.tar.gz and its bill of materials (SPDX 2.3): the
#             same bytes from the same commit, wherever it is made
# make deb    Debian packages of it, in build/deb; DEB_FLAGS for dpkg-buildpackage
# make rpm    the RPM packages, in build/rpm
# packaging/check FOLDER  builds, installs, tries, upgrades and purges the Debian packages
#                         in a root of their own

DIST     := $(O)/dist
TARBALL  := $(DIST)/atwalk-$(VERSION).tar.gz
SBOM     := $(TARBALL:.tar.gz=.spdx.json)
DEB_FLAGS ?= -us -uc
.PHONY: dist deb rpm

dist:
	$(Q)mkdir -p $(DIST)
	$(call say,DIST,$(TARBALL))git -c tar.umask=0022 -c tar.tar.gz.command='gzip -9n' archive --format=tar.gz \
	  --prefix=atwalk-$(VERSION)/ -o $(TARBALL).new HEAD && mv -f $(TARBALL).new $(TARBALL) || \
	  { rm -f $(TARBALL).new; false; }
	$(call say,SBOM,$(SBOM))tools/make-sbom $(VERSION) $(TARBALL) >$(SBOM).new && mv -f $(SBOM).new $(SBOM) || \
	  { rm -f $(SBOM).new; false; }

# Every package lies beside the folder that it is built in.
deb: dist
	$(Q)rm -rf $(O)/deb && mkdir -p $(O)/deb
	$(Q)cp $(TARBALL) $(O)/deb/atwalk_$(VERSION).orig.tar.gz
	$(Q)tar -C $(O)/deb -xzf $(TARBALL) && cp -r packaging/debian $(O)/deb/atwalk-$(VERSION)/
	$(Q)cd $(O)/deb/atwalk-$(VERSION) && dpkg-buildpackage $(DEB_FLAGS)

rpm: dist
	$(Q)rm -rf $(O)/rpm && mkdir -p $(O)/rpm/SOURCES
	$(Q)cp $(TARBALL) $(O)/rpm/SOURCES/
	$(Q)rpmbuild -ba --define '_topdir $(abspath $(O))/rpm' --define 'atwalk_version $(VERSION)' \
	  $(RPM_FLAGS) packaging/rpm/atwalk.spec
