#pragma once

// Everything a program needs to submit work, run workers and look at what happens.

#include <flowfabric/call_middleware.h>
#include <flowfabric/fabric.h>
#include <flowfabric/middleware.h>
#include <flowfabric/worker.h>
