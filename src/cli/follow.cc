#include "cli/follow.h"

#include "cli/blob.h"
#include "cli/format.h"

#include <chrono>

namespace ff::cli {
namespace {

using std::chrono::milliseconds;

/// How long a look waits for the end before it looks for other changes.
constexpr milliseconds kLook(150);

/// What has to differ for a new line.
using Shown = std::tuple<PublicState, BlockingReason, std::uint32_t, std::optional<std::uint32_t>, std::optional<std::string>>;

Shown shown_of(const Execution& execution) {
  return {execution.state.public_state, execution.state.blocking_reason, execution.counters.total_attempt_count,
          execution.progress.progress_pct, execution.progress.progress_message};
}

void tell(Globals& globals, const Execution& execution, milliseconds elapsed) {
  if (globals.output.json()) {
    core::json::object object;
    object["event"] = "state";
    object["execution_id"] = execution.execution_id.to_string();
    object["public_state"] = core::name_of(execution.state.public_state);
    object["total_attempt_count"] = execution.counters.total_attempt_count;
    object["why"] = core::to_value(execution.why);
    globals.output.document(object);
    (void)globals.output.flush();
    return;
  }
  const std::string state(core::name_of(execution.state.public_state));
  globals.output.remark(fmt::format("{:>8}  {}{}  {}", "+" + duration_text(elapsed.count()),
                                    globals.output.paint_remark(state, colour_of(execution.state.public_state)),
                                    std::string(state.size() < 10 ? 10 - state.size() : 0, ' '),
                                    printable(execution.why.text)));
}

Result<int> ended(Globals& globals, const Fabric& fabric, const Execution& execution) {
  const int code = execution.state.public_state == PublicState::completed ? kDone : kFailed;
  auto result = fabric.result(execution.execution_id);
  if (!result) return std::unexpected(result.error());
  if (globals.output.json()) {
    core::json::object object;
    object["event"] = "ended";
    object["execution"] = core::to_value(execution);
    if (*result) object["result"] = blob_value(**result);
    globals.output.document(object);
  } else if (*result) {
    globals.output.raw((*result)->bytes);
    if (globals.output.out_is_terminal() && !(*result)->bytes.ends_with('\n')) globals.output.line("");
  }
  return code;
}

}  // namespace

Result<int> follow(Globals& globals, const Fabric& fabric, const ExecutionId& id, std::optional<std::uint64_t> at_most_ms) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<Shown> last;
  milliseconds look(0);
  while (true) {
    auto execution = fabric.wait(id, look);
    if (!execution) return std::unexpected(execution.error());
    const auto elapsed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    if (const Shown now = shown_of(*execution); last != now) {
      tell(globals, *execution, elapsed);
      last = now;
    }
    if (execution->state.lifecycle_phase == LifecyclePhase::terminal) return ended(globals, fabric, *execution);
    if (at_most_ms && elapsed >= milliseconds(*at_most_ms))
      return core::fail(ErrorCode::timeout,
                        fmt::format("The execution has not ended within {}. It goes on: look with `ff get {}`.",
                                    duration_text(static_cast<std::int64_t>(*at_most_ms)), id.to_string()));
    look = at_most_ms ? std::min(kLook, milliseconds(*at_most_ms) - elapsed) : kLook;
  }
}

}  // namespace ff::cli
