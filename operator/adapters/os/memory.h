#pragma once

namespace kro {

// Keeps what the allocator holds back small: two arenas instead of eight a core, and large blocks go back to the
// system at once. Call first in main, before threads start.
void keep_memory_small();

// Gives free memory back to the system, after something large was let go. May take milliseconds.
void trim_memory();

}  // namespace kro
