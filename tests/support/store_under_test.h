#pragma once

// The stores that shared tests run on. A store joins with one line in stores_under_test().

#include "engine/engine.h"
#include "support/temp_folder.h"

#include <flowfabric/fabric.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace ff::test {

/// Puts something between an engine and its store: a fault, a deaf ear.
using Wrap = std::function<std::unique_ptr<store::Store>(std::unique_ptr<store::Store>)>;

/// What a fabric needs besides itself: a server.
class Behind {
 public:
  virtual ~Behind() = default;
  virtual void close() = 0;
};

/// A fabric over a data set, and the engine that serves it.
struct Opened {
  Fabric fabric;
  engine::Engine* engine = nullptr;
  std::shared_ptr<Behind> behind = {};  ///< null: the fabric is the engine's own

  void close() const {
    fabric.close();
    if (behind) behind->close();
  }
};

/// One data set of some store: empty when it is made, gone with the object.
class DataSet {
 public:
  virtual ~DataSet() = default;

  /// Opens the data set as a process of its own would; any number may be open at once. What was stored by earlier ones
  /// is there. `options.clock` is the clock that the data set was made with.
  virtual Result<Opened> open(OpenOptions options, const Wrap& wrap = {}) = 0;

  /// Where the parts of a store have clocks of their own, only those partitions show exactly the time of the fabric.
  virtual bool keeps_time(std::uint16_t) const { return true; }
  /// How far the time of the fabric lies behind the clock that the data set was made with.
  virtual TimeMs lag_ms() const { return 0; }
};

/// A store by name, and how to make a data set of it. Without a clock it runs on the machine's.
struct StoreUnderTest {
  std::string name;
  std::function<std::unique_ptr<DataSet>(std::shared_ptr<ManualClock>)> make;
};

inline void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }

/// Every store that takes part in the shared tests.
const std::vector<StoreUnderTest>& stores_under_test();
/// One of them.
const StoreUnderTest& store_under_test(std::string_view name);

/// An embedded engine over `store`, as ff::open makes it.
Result<Opened> open_embedded(std::unique_ptr<store::Store> store, OpenOptions options, const Wrap& wrap = {});

}  // namespace ff::test
