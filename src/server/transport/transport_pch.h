#pragma once

// What nearly every source of the transport includes, compiled once.

#include "pch.h"

#include "server/transport/asio.h"
