# What `cmake --install` puts where: the public headers, both libraries, pkg-config and CMake package files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES ${PROJECT_SOURCE_DIR}/include/warpseal/warpseal.h ${PROJECT_SOURCE_DIR}/include/warpseal/warpseal.hpp
  ${PROJECT_SOURCE_DIR}/include/warpseal/kem.h ${PROJECT_SOURCE_DIR}/include/warpseal/batch.h
  ${PROJECT_SOURCE_DIR}/include/warpseal/batcher.h
  ${PROJECT_SOURCE_DIR}/include/warpseal/drbg.h ${PROJECT_SOURCE_DIR}/include/warpseal/error.h
  ${PROJECT_SOURCE_DIR}/include/warpseal/reader.h ${PROJECT_SOURCE_DIR}/include/warpseal/cobblestone.h
  ${PROJECT_SOURCE_DIR}/include/warpseal/slots.h ${PROJECT_SOURCE_DIR}/include/warpseal/device_file.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpseal)
install(TARGETS warpseal_shared warpseal_static EXPORT warpseal
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpseal)
install(EXPORT warpseal NAMESPACE warpseal:: FILE warpsealTargets.cmake DESTINATION ${package_dir})
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/warpsealConfig.cmake @ONLY CONTENT
"# find_package(warpseal CONFIG): targets warpseal::warpseal, which is warpseal::shared, and
# warpseal::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/warpsealTargets.cmake)
if(NOT TARGET warpseal::warpseal)
  add_library(warpseal::warpseal INTERFACE IMPORTED)
  set_target_properties(warpseal::warpseal PROPERTIES INTERFACE_LINK_LIBRARIES warpseal::shared)
endif()
")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/warpsealConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/warpsealConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/warpsealConfigVersion.cmake
  DESTINATION ${package_dir})

# The prefix is found from where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(static_libraries "-lsodium -lstdc++ -lm -lpthread -ldl")
if(WARPSEAL_GPU)
  string(APPEND static_libraries " -lcudart_static -lrt")
endif()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/warpseal.pc @ONLY CONTENT
"prefix=\${pcfiledir}/${prefix_from_pc}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: warpseal
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lwarpseal
Libs.private: ${static_libraries}
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/warpseal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
