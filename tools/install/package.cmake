# How CPack makes the four Debian packages of what is installed; tools/package runs it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME millrace)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Millrace maintainers <$ENV{DEBEMAIL}>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL libraries development command documentation)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
# Changelogs, copyright and compressed manual pages, as Debian wants them in each package.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/debian_files.cmake)
set(CPACK_MILLRACE_DEBIAN ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(same "(= ${PROJECT_VERSION}-1)")

set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME libmillrace0)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# CPack's own scripts call ldconfig, which is this trigger's work today.
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS libblis4-serial)
set(CPACK_DEBIAN_LIBRARIES_DESCRIPTION "asynchronous actor runtime for accelerator devices
Millrace puts data on a device, runs compiled programs (StableHLO) there,
loads data ahead of the step that needs it, and reduces across devices and
processes. Its CPU device is inside; any PJRT plugin drives others.
.
This package has the shared libraries for C++ and for C, and the CPU device
as a PJRT plugin.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmillrace-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libmillrace0 ${same}")
# The shared libraries need nothing else; static ones need what they are made of.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libmillrace-doc, libuv1-dev, libevent-dev, libspdlog-dev, libfmt-dev, \
libtbb-dev, libssl-dev, libdnnl-dev, liblapack-dev, libblas-dev, libprotobuf-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "asynchronous actor runtime for accelerator devices (development)
Headers, static libraries, and the files by which CMake and pkg-config find
them. A program that links the shared library needs nothing else; one that
links components needs the suggested packages of what they are made of.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME millrace)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS libblis4-serial)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS libmillrace-dev)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "run, train and look at programs on accelerator devices
The millrace command runs StableHLO programs on the CPU or on the devices of
PJRT plugins, trains models from data in files, starts the processes of a
job, draws timelines, and checks plugins.")

set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME libmillrace-doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCUMENTATION_DESCRIPTION "asynchronous actor runtime for accelerator devices (documents)
The document of each part of Millrace: what it promises and what to read
first. The reference is in the headers of libmillrace-dev.")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
