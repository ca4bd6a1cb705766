# libFuzzer's programs, warpseal-libfuzzer-NAME: a target and the code that it is about, compiled by clang with -fsanitize=fuzzer,address.
# The rest is the library of this build: clang does not compile the ciphers on cores. Only libc, libm and the loader stay dynamic, as
# programs run on other machines too.
set(libfuzzer_folder ${CMAKE_CURRENT_BINARY_DIR}/libfuzzer)
set(libfuzzer_flags -std=c++20 -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address -fconstexpr-steps=100000000
  -Dconsteval=constexpr -DFMT_HEADER_ONLY=1 -DWARPSEAL_LIBFUZZER -DWARPSEAL_COMPANIONS=\"../libexec/warpseal\"
  -DWARPSEAL_VERSION=\"${PROJECT_VERSION}\" -DWARPSEAL_SOURCE=\"${PROJECT_SOURCE_DIR}\" -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/src
  -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests -I${PROJECT_BINARY_DIR}/src)

# Without unused sections, the code of libarchive that needs other libraries is not linked.
set(cudart "")
if(WARPSEAL_GPU)
  set(cudart ${CUDART_STATIC} -lrt)
endif()

# Compiles one source, once for all targets, and appends its object to the list.
function(libfuzzer_object source list)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  set(object ${libfuzzer_folder}/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  get_source_file_property(known ${object} GENERATED)
  if(NOT known)
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
      COMMAND ${WARPSEAL_LIBFUZZER} ${libfuzzer_flags} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object})
  endif()
  set(${list} ${${list}} ${object} PARENT_SCOPE)
endfunction()

# The further arguments are patterns of instrumented sources. Their assertions are active, so that
# they need the functions of ForkMutex that a release lacks.
function(add_libfuzzer name)
  set(objects "")
  libfuzzer_object(${CMAKE_CURRENT_SOURCE_DIR}/targets/${name}.cpp objects)
  foreach(pattern src/platform/forks.cpp ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
    list(FILTER sources EXCLUDE REGEX "/cli/main\\.cpp$")
    foreach(source ${sources})
      libfuzzer_object(${source} objects)
    endforeach()
  endforeach()
  set(program ${PROJECT_BINARY_DIR}/tests/warpseal-libfuzzer-${name})
  add_custom_command(OUTPUT ${program} DEPENDS ${objects} warpseal_static VERBATIM
    COMMAND ${WARPSEAL_LIBFUZZER} -fsanitize=fuzzer,address -static-libgcc -static-libstdc++ -Wl,--gc-sections ${objects}
      $<TARGET_FILE:warpseal_static> ${cudart} ${CRYPTO_STATIC} ${SODIUM_STATIC} ${ARCHIVE_STATIC} ${ZLIB_STATIC}
      $<TARGET_FILE:GTest::gtest> -lpthread -ldl -o ${program})
  add_custom_target(warpseal-libfuzzer-${name} DEPENDS ${program})
endfunction()

foreach(name header payload cobblestone)
  add_libfuzzer(${name} src/container/*.cpp src/container/*/*.cpp)
endforeach()
foreach(name batch kem streaming)
  add_libfuzzer(${name} src/c_api/*.cpp src/engine/*.cpp src/engine/calls/*.cpp src/engine/kem/*.cpp)
endforeach()
foreach(name age_header command_line configuration key_file ssh_key vector_file)
  add_libfuzzer(${name} cli/*.cpp cli/*/*.cpp cli/*/*/*.cpp)
endforeach()
