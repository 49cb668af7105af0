#include "cli/filter.h"

#include "cli/values.h"
#include "core/fields.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

template <core::DescribedEnum E>
Result<E> parse_word(std::string_view field, std::string_view text) {
  if (auto found = core::enum_from<E>(text)) return *found;
  std::string known;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    known += known.empty() ? "" : ", ";
    known += core::wire_name(d.name);
  });
  return std::unexpected(
      core::invalid_input(field, "unknown_value", fmt::format("'{}' is no {}; it may be: {}.", text, field, known)));
}

}  // namespace

bool FilterWords::empty() const {
  return namespace_.empty() && lane.empty() && kind.empty() && flow.empty() && worker.empty() && created_after.empty() &&
         created_before.empty() && blocking_reason.empty() && states.empty() && tags.empty();
}

void add_filter_options(CLI::App* command, FilterWords& words) {
  const char* group = "Filters (all given ones must match)";
  command->add_option("--namespace", words.namespace_, "Of this namespace")->group(group);
  command->add_option("--lane", words.lane, "In this lane")->group(group);
  command->add_option("--kind", words.kind, "Of this kind")->group(group);
  command->add_option("--state", words.states, "In one of these public states; may repeat or be a list a,b")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command->add_option("--flow", words.flow, "Members of this flow")->group(group);
  command->add_option("--tag", words.tags, "With this tag, as key=value; may repeat")
      ->allow_extra_args(false)
      ->group(group);
  command->add_option("--worker", words.worker, "Leased to this worker instance")->group(group);
  command->add_option("--created-after", words.created_after, "Younger than a time, or than a duration such as 10m")
      ->group(group);
  command->add_option("--created-before", words.created_before, "Older than a time, or than a duration such as 2h")
      ->group(group);
  command->add_option("--blocking-reason", words.blocking_reason, "Standing still for this reason")->group(group);
}

Result<ExecutionFilter> parse_filter(const FilterWords& words, TimeMs now) {
  ExecutionFilter filter;
  auto text = [](const std::string& word) { return word.empty() ? std::nullopt : std::optional(word); };
  filter.namespace_ = text(words.namespace_);
  filter.lane = text(words.lane);
  filter.kind = text(words.kind);
  filter.worker = text(words.worker);
  if (!words.flow.empty()) {
    filter.flow_id = Uuid::parse(words.flow);
    if (!filter.flow_id)
      return std::unexpected(core::invalid_input("flow", "invalid_uuid", fmt::format("'{}' is not a UUID.", words.flow)));
  }
  for (const auto& word : words.states) {
    auto state = parse_word<PublicState>("state", word);
    if (!state) return std::unexpected(state.error());
    filter.state.push_back(*state);
  }
  for (const auto& word : words.tags) {
    auto tag = parse_tag(word);
    if (!tag) return std::unexpected(tag.error());
    filter.tags.insert(std::move(*tag));
  }
  if (!words.blocking_reason.empty()) {
    auto reason = parse_word<BlockingReason>("blocking_reason", words.blocking_reason);
    if (!reason) return std::unexpected(reason.error());
    filter.blocking_reason = *reason;
  }
  auto time = [&](const std::string& word, std::optional<TimeMs>& into) -> Result<void> {
    if (word.empty()) return {};
    auto at = parse_time(word, now, Side::past);
    if (!at) return std::unexpected(at.error());
    into = *at;
    return {};
  };
  if (auto done = time(words.created_after, filter.created_after_ms); !done) return std::unexpected(done.error());
  if (auto done = time(words.created_before, filter.created_before_ms); !done) return std::unexpected(done.error());
  return filter;
}

Result<std::optional<std::string>> walk(const Fabric& fabric, ListExecutions query,
                                        const std::function<bool(const std::vector<ExecutionSummary>&)>& visit) {
  while (true) {
    auto page = fabric.list(query);
    if (!page) return std::unexpected(page.error());
    const bool more_wanted = visit(page->items);
    if (!page->next_cursor || !more_wanted) return page->next_cursor;
    query.cursor = *page->next_cursor;
  }
}

}  // namespace ff::cli
