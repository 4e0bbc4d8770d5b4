// Which build of a shared library this is, and on what it runs: for what is kept from one process
// to the next.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace millrace::devices {

// The identifier in the notes of an ELF file (the segments of type PT_NOTE: 4-byte words name size,
// description size, type, then name and description, each padded to `alignment`), in hexadecimal.
// Empty where there is none, or where the notes end too early. Pure.
std::string build_id_of_notes(std::span<const std::byte> notes, std::size_t alignment);

// The build of the library that is loaded and holds this address: "build ID ..." where its linker
// has written one, which a copy of the file keeps; else the file's size and time, because reading
// all of a plugin of 200 MB takes longer than compiling most programs.
std::string build_of(const void* address, const std::string& path);
// The same of the library or program whose file the loader knows. Empty if no file holds it.
std::string build_of(const void* address);

// What the first processor says that it can do; compiled programs may hold code for it. Read once.
const std::string& host_processor();

}  // namespace millrace::devices
