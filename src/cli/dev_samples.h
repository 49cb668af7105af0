#pragma once

#include <flowfabric/fabric.h>
#include <flowfabric/worker.h>

#include <list>
#include <thread>

namespace ff::cli {

/// Something to look at: workers that do sample work, and work that keeps coming. Some of it fails and is tried again,
/// some waits for later, and one execution waits for a worker that nobody has. Ends in order when it goes.
class Samples {
 public:
  explicit Samples(Fabric fabric);
  ~Samples();
  Samples(const Samples&) = delete;

 private:
  void employ(const std::string& pool, std::vector<std::string> lanes,
              const std::vector<std::pair<std::string, Worker::Handler>>& handlers);
  void submit(std::uint32_t number);
  void keep_coming(const std::stop_token& stop);

  Fabric fabric_;
  std::list<Worker> workers_;
  std::vector<std::jthread> threads_;
  std::jthread submitter_;
};

}  // namespace ff::cli
