#pragma once

// The commands of the program, one function per group.

#include "cli/command.h"

namespace ff::cli {

void add_submit(Program& program);   ///< submit
void add_look(Program& program);     ///< get, why, attempts, history, result, payload
void add_list(Program& program);     ///< list
void add_bulk(Program& program);     ///< cancel, replay
void add_change(Program& program);   ///< priority, revoke, complete, fail, tag, delete
void add_lanes(Program& program);    ///< lanes, lanes pause, resume, drain
void add_leases(Program& program);   ///< leases
void add_worker(Program& program);   ///< worker exec
void add_workers(Program& program);  ///< workers, workers dead
void add_tail(Program& program);     ///< tail
void add_audit(Program& program);    ///< audit
void add_serve(Program& program);    ///< serve
void add_dev(Program& program);      ///< dev
void add_token(Program& program);    ///< token create, list, revoke
void add_migrate(Program& program);  ///< migrate
void add_check(Program& program);    ///< check
void add_export(Program& program);   ///< export
void add_import(Program& program);   ///< import
void add_bench(Program& program);    ///< bench cycle
void add_completion(Program& program);  ///< completion
void add_version(Program& program);     ///< version

}  // namespace ff::cli
