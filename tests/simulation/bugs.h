#pragma once

// Bugs on purpose. A check that has never failed proves nothing: each of these is put into a world that is otherwise
// sound, and must be noticed.

#include "random.h"
#include "store/memory/memory_store.h"

namespace ff::sim {

/// What a store or a process does wrong; now and then, so that the world gets going first.
enum class Bug : std::uint8_t {
  none,
  forgets_commit,      ///< a save is acknowledged, and nothing of it is stored
  forgets_record,      ///< a save stores everything but one execution
  forgets_completion,  ///< an end without its event
  doubles_completion,  ///< an end with two events
  forgets_index,       ///< a candidate that stands in no queue
  forgets_event_index, ///< an event that the history of its execution does not show
  undoes_lease,        ///< a lease that was given is forgotten with all its traces: it can be given again
  ignores_versions,    ///< nobody is locked out, and whoever saves last wins
  turns_time_back,     ///< the clock of a batch lies before what it has loaded
  mixes_up_payloads,   ///< a load brings the payload of another execution
  hides_queues,        ///< nobody learns of what another process has queued
  never_sweeps,        ///< a process without sweeps: nothing reacts to time
};
std::string_view name_of(Bug bug);

/// The session, with the bug if it is one of sessions. `data` is what the session works on.
std::unique_ptr<store::Session> with_bug(std::unique_ptr<store::Session> session, store::MemoryData& data, Bug bug,
                                         Random random);

}  // namespace ff::sim
