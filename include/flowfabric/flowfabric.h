#pragma once

// Everything a program needs to submit work, run workers and look at what happens.

#include <flowfabric/fabric.h>
#include <flowfabric/worker.h>
