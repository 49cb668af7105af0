#pragma once

// What nearly every command includes, compiled once.

#include "pch.h"

#include <CLI/CLI.hpp>

#include "core/json.h"

#include <flowfabric/fabric.h>
