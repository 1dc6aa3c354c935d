# Flags that every target of this project shares. Third-party headers are SYSTEM and stay quiet.
add_library(kro_flags INTERFACE)
target_compile_options(kro_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wno-missing-field-initializers)
if(KRO_WERROR)
  target_compile_options(kro_flags INTERFACE -Werror)
endif()
# nlohmann-json: no implicit conversions, so that a wrong type is a compile error or an explicit check.
target_compile_definitions(kro_flags INTERFACE JSON_USE_IMPLICIT_CONVERSIONS=0 SPDLOG_FMT_EXTERNAL)
if(KRO_SANITIZE)
  target_compile_options(kro_flags INTERFACE -fsanitize=${KRO_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(kro_flags INTERFACE -fsanitize=${KRO_SANITIZE})
  # g++ 12 reports false null dereferences in instrumented standard containers.
  target_compile_options(kro_flags INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized)
endif()
if(KRO_HARDEN)
  target_compile_options(kro_flags INTERFACE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong
    -fstack-clash-protection -fcf-protection)
  target_link_options(kro_flags INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
  # Under LTO g++ 12 repeats null-dereference guesses across translation units; the dev build has the real check.
  target_compile_options(kro_flags INTERFACE -Wno-null-dereference)
  target_link_options(kro_flags INTERFACE -Wno-null-dereference)
endif()
