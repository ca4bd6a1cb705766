# Writes OUTPUT, a header with the commit of the checkout SOURCE. Rewrites it only if the commit
# changes.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "+changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written at build time: the commit that a measurement belongs to.
#pragma once
#define WARPSEAL_COMMIT \"${commit}\"
")
