#pragma once

// Every case here runs on every store, through the public API, and through a server and the client save for those of
// `InProcess`. Nothing may depend on a particular store: what does stands in tests/store. Cases are named after those of the specification.

#include "support/faults.h"
#include "support/world.h"

namespace ff::test {

class Conformance : public ::testing::TestWithParam<StoreUnderTest>, public World {
 protected:
  Conformance() : World(GetParam()) {}
  /// Whatever a case did, the store agrees with itself afterwards.
  void TearDown() override { EXPECT_THAT(faults(), ::testing::IsEmpty()); }
};

class Domain : public Conformance {};
class Executions : public Conformance {};
class Scheduling : public Conformance {};
class Background : public Conformance {};
/// What only a program with the engine inside can do: say on whose behalf it calls and under which key, and rely on the
/// order of calls that it does not wait for.
class InProcess : public Conformance {};

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

}  // namespace ff::test
