# The programs of scripts/sanitize msan: the targets that valgrind cannot run. Only what is listed here is linked, all of it
# instrumented.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "WARPSEAL_SANITIZE=memory needs clang: add -DCMAKE_CXX_COMPILER=clang++")
endif()
set(msan_options -DWARPSEAL_MSAN "SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/msan_models.h"
  -fsanitize-ignorelist=${CMAKE_CURRENT_SOURCE_DIR}/msan_ignore.txt)

file(STRINGS ${PROJECT_SOURCE_DIR}/src/ciphers/catalogue.h entries REGEX "^ *{\"[a-z0-9]+\"")
set(objects "")
set(declarations "")
foreach(target vaes256 vaes512)
  set(row_${target} "")
  foreach(entry ${entries})
    string(REGEX REPLACE "^ *{\"([a-z0-9]+)\".*" "\\1" cipher "${entry}")
    target_compile_options(cpu_${target}_${cipher} PRIVATE ${msan_options})
    list(APPEND objects $<TARGET_OBJECTS:cpu_${target}_${cipher}>)
    string(APPEND declarations "extern \"C\" const CpuBackend warpseal_cpu_${target}_${cipher};\n")
    string(APPEND row_${target} "&warpseal_cpu_${target}_${cipher}, ")
  endforeach()
endforeach()
string(REGEX REPLACE "&[a-z0-9_]+" "&not_here" others "${row_vaes256}")
list(LENGTH entries cipher_count)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/msan/cpu_exports.h CONTENT
"// Written by CMake: the exports of the objects under MemorySanitizer, [target][cipher]. The portable row has the names of all ciphers.
${declarations}
inline constexpr CpuBackend not_here{};
inline const CpuBackend* const cpu_exports[cpu_target_count][${cipher_count}] = {
    {${row_vaes256}},
    {${others}},
    {${others}},
    {${row_vaes256}},
    {${row_vaes512}}};
")
foreach(scheme kem mlkem hybrid)
  target_compile_options(cpu_vaes512_${scheme} PRIVATE ${msan_options})
  list(APPEND objects $<TARGET_OBJECTS:cpu_vaes512_${scheme}>)
endforeach()
target_compile_options(cpu_vaes512_mlkem PRIVATE "SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/msan_models_mlkem.h")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/msan/cpu_kem_exports.h CONTENT
"// Written by CMake: the exports of key encapsulation under MemorySanitizer, by target.
extern \"C\" const CpuKem warpseal_cpu_vaes512_kem[warpseal::kem::set_count],
    warpseal_cpu_vaes512_mlkem[warpseal::kem::mlkem_set_count],
    warpseal_cpu_vaes512_hybrid[warpseal::kem::hybrid_set_count];
using KemExports = const CpuKem*[cpu_target_count];
inline const KemExports cpu_kem_exports = {nullptr, nullptr, nullptr, nullptr, warpseal_cpu_vaes512_kem};
inline const KemExports cpu_mlkem_exports = {nullptr, nullptr, nullptr, nullptr, warpseal_cpu_vaes512_mlkem};
inline const KemExports cpu_hybrid_exports = {nullptr, nullptr, nullptr, nullptr, warpseal_cpu_vaes512_hybrid};
")
set(engine ${PROJECT_SOURCE_DIR}/src/engine)
set(backends ${PROJECT_SOURCE_DIR}/src/backends)
add_library(warpseal_msan OBJECT ${backends}/cpu/dispatch.cpp ${backends}/cpu/kem/dispatch.cpp ${engine}/targets.cpp
  ${engine}/refusal.cpp msan_reports.cpp)
target_include_directories(warpseal_msan PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/msan ${PROJECT_SOURCE_DIR}/tests
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(warpseal_msan PRIVATE ${msan_options})
function(msan_program name)
  add_executable(${name} ${ARGN} ${objects} $<TARGET_OBJECTS:warpseal_msan>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -O1 ${msan_options})
endfunction()
msan_program(warpseal-secrets-msan secrets.cpp msan_models.cpp)
set_source_files_properties(msan_models.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vbmi;-mavx512vl;-mgfni")
msan_program(warpseal-secrets-mlkem-msan secrets_mlkem.cpp)
