# Warnings and sanitizers for every target of this project.
add_library(ff_options INTERFACE)
target_compile_options(ff_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers
  -Wno-maybe-uninitialized) # GCC 12 sees ghosts inside std::expected
if(FF_WERROR)
  target_compile_options(ff_options INTERFACE -Werror)
endif()
if(FF_SANITIZE)
  target_compile_options(ff_options INTERFACE -fsanitize=${FF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(ff_options INTERFACE -fsanitize=${FF_SANITIZE})
  if(FF_SANITIZE MATCHES thread)
    # The thread sanitizer does not know fences. Asio's are there for weak memory; its queues have locks.
    target_compile_definitions(ff_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
