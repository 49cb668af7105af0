#pragma once

#include <string>

namespace ff::test {

/// Makes an SQLite file as the program that knew only the first steps of the schema left it.
void make_old_file(const std::string& path, int version);

/// Runs statements on an SQLite file.
void execute_on_file(const std::string& path, const std::string& sql);

}  // namespace ff::test
