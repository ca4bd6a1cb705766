# Installation of the provider: the module under the prefix, its openssl.cnf fragment, and files for
# a service. `cmake --install BUILD --component openssl-module` installs the module into the folder
# that the system's OpenSSL searches.
include(GNUInstallDirs)
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_get_variable(found_modules libcrypto modulesdir)
endif()
if(NOT found_modules)
  set(found_modules ${CMAKE_INSTALL_FULL_LIBDIR}/ossl-modules)
endif()
set(WARPSEAL_OPENSSL_MODULES ${found_modules} CACHE PATH "OpenSSL's folder of modules, as `openssl version -m` says")
set(WARPSEAL_OPENSSL_DIRECTORY /etc/ssl CACHE PATH "The folder of the system's openssl.cnf")
install(TARGETS warpseal_provider LIBRARY DESTINATION ${WARPSEAL_OPENSSL_MODULES} COMPONENT openssl-module EXCLUDE_FROM_ALL)

install(PROGRAMS $<TARGET_FILE:warpseal_provider> DESTINATION ${CMAKE_INSTALL_LIBDIR}/ossl-modules)
# Configured during installation, because the files contain absolute paths with the prefix.
install(CODE "
  get_filename_component(warpseal_data ${CMAKE_INSTALL_DATADIR}/warpseal ABSOLUTE BASE_DIR \${CMAKE_INSTALL_PREFIX})
  get_filename_component(warpseal_modules ${CMAKE_INSTALL_LIBDIR}/ossl-modules ABSOLUTE BASE_DIR \${CMAKE_INSTALL_PREFIX})
  get_filename_component(warpseal_program ${CMAKE_INSTALL_BINDIR}/warpseal ABSOLUTE BASE_DIR \${CMAKE_INSTALL_PREFIX})
  set(openssl_directory \"${WARPSEAL_OPENSSL_DIRECTORY}\")
  foreach(file warpseal.cnf openssl.cnf warpseal.conf)
    configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/install/\${file}.in\" \"${CMAKE_CURRENT_BINARY_DIR}/install/\${file}\" @ONLY)
    file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/install/\${file}\" DESTINATION \"\${warpseal_data}\")
  endforeach()")
