#pragma once

#include "cli/output.h"

#include <string>
#include <vector>

namespace ff::cli {

/// Rows of text in columns that line up. The last column is never padded.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  struct Cell {
    std::string text;
    Colour colour = Colour::none;

    Cell(std::string text_, Colour colour_ = Colour::none) : text(std::move(text_)), colour(colour_) {}
    Cell(const char* text_) : text(text_) {}
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  /// The lines, titles first.
  std::vector<std::string> lines(const Output& output) const;
  void print(Output& output, bool titles = true) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Names and values beneath each other, values lined up; what is empty is left out.
class Facts {
 public:
  explicit Facts(std::string title) : title_(std::move(title)) {}
  Facts& add(std::string name, std::string value, Colour colour = Colour::none);
  /// Prints the title and the facts; nothing when there are none.
  void print(Output& output) const;

 private:
  struct Fact {
    std::string name;
    std::string value;
    Colour colour;
  };
  std::string title_;
  std::vector<Fact> facts_;
};

}  // namespace ff::cli
