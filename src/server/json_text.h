#pragma once

// JSON as text, under the names of this folder.

#include "core/json_text.h"

namespace ff::server {

using core::ObjectText;
using core::raw_elements;
using core::raw_members;
using core::RawMember;
using core::sole_member;

}  // namespace ff::server
