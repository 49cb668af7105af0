#include "cli/table.h"

#include "cli/format.h"

namespace ff::cli {

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size(), Cell(std::string()));
  for (auto& cell : row)
    if (cell.text.empty()) cell.text = "-";
  rows_.push_back(std::move(row));
}

std::vector<std::string> Table::lines(const Output& output) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[i].text));
    widths.push_back(width);
  }
  auto lay_out = [&](auto&& text_of, auto&& colour_of_cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = text_of(i);
      const std::string padding(widths[i] - columns_of(text), ' ');
      const bool last = i + 1 == columns_.size();
      if (i > 0) line += "  ";
      if (columns_[i].align == Align::right) line += padding;
      line += output.paint(text, colour_of_cell(i));
      if (columns_[i].align == Align::left && !last) line += padding;
    }
    return line;
  };
  std::vector<std::string> lines;
  lines.push_back(lay_out([&](std::size_t i) -> const std::string& { return columns_[i].title; },
                          [](std::size_t) { return Colour::dim; }));
  for (const auto& row : rows_)
    lines.push_back(lay_out([&](std::size_t i) -> const std::string& { return row[i].text; },
                            [&](std::size_t i) { return row[i].colour; }));
  return lines;
}

void Table::print(Output& output, bool titles) const {
  const auto all = lines(output);
  for (std::size_t i = titles ? 0 : 1; i < all.size(); ++i) output.line(all[i]);
}

Facts& Facts::add(std::string name, std::string value, Colour colour) {
  if (!value.empty()) facts_.push_back({std::move(name), std::move(value), colour});
  return *this;
}

void Facts::print(Output& output) const {
  if (facts_.empty()) return;
  std::size_t width = 0;
  for (const auto& fact : facts_) width = std::max(width, columns_of(fact.name));
  if (!title_.empty()) output.line(output.paint(title_, Colour::bold));
  for (const auto& fact : facts_)
    output.line(fmt::format("  {}{}  {}", fact.name, std::string(width - columns_of(fact.name), ' '),
                            output.paint(fact.value, fact.colour)));
}

}  // namespace ff::cli
