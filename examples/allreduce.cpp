// Repeats an all-reduce around a ring of ranks, as the training of a model does, and prints how long one takes.
//     allreduce STORE RANK RANKS OPERATIONS [BYTES]
// STORE is a directory that all ranks see; rank 0 prints. Every sum is checked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace {

// A rank's part of the sum at a place: small whole numbers, whose sums floats hold exactly.
float part(int rank, size_t place, int operation) {
  return static_cast<float>((place + operation) % 1000 + rank);
}

void fill(std::vector<float>& values, int rank, int operation) {
  for (size_t place = 0; place < values.size(); place++) {
    values[place] = part(rank, place, operation);
  }
}

bool isSum(const std::vector<float>& values, int ranks, int operation) {
  for (size_t place = 0; place < values.size(); place++) {
    const float all = ranks * part(0, place, operation) + ranks * (ranks - 1) / 2;
    if (values[place] != all) return false;
  }
  return true;
}

std::shared_ptr<gloo::rendezvous::Context> connect(const char* directory, int rank, int ranks) {
  gloo::transport::tcp::attr here;
  here.iface = "eth0";
  auto device = gloo::transport::tcp::CreateDevice(here);
  gloo::rendezvous::FileStore store(directory);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  return context;
}

// Waits until every rank has its connections: a rank that meets no file in the store looks again 10 ms later.
void meet(const std::shared_ptr<gloo::Context>& context) {
  gloo::BarrierOptions options(context);
  gloo::barrier(options);
}

double reduce(const std::shared_ptr<gloo::Context>& context, std::vector<float>& values, int operation) {
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  options.setTag(operation);
  const auto begin = std::chrono::steady_clock::now();
  gloo::allreduce(options);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print(std::vector<double> times, size_t bytes) {
  const double seconds = std::accumulate(times.begin(), times.end(), 0.0) / 1000;
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<size_t>(share * (times.size() - 1))]; };
  std::printf("operations,bytes,operations_per_s,p50_ms,p99_ms,longest_ms\n");
  std::printf("%zu,%zu,%.0f,", times.size(), bytes, times.size() / seconds);
  std::printf("%.4f,%.4f,%.4f\n", at(0.5), at(0.99), at(1.0));
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: allreduce STORE RANK RANKS OPERATIONS [BYTES]\n");
    return 2;
  }
  const int rank = std::atoi(words[2]), ranks = std::atoi(words[3]), operations = std::atoi(words[4]);
  const size_t bytes = count > 5 ? std::strtoull(words[5], nullptr, 10) : 1000000;
  if (operations < 1 || bytes < sizeof(float)) {
    std::fprintf(stderr, "allreduce: nothing to add up; ask for one operation and 4 B at least\n");
    return 2;
  }
  const auto context = connect(words[1], rank, ranks);
  std::vector<float> values(bytes / sizeof(float));
  std::vector<double> times;
  meet(context);
  for (int operation = 0; operation < operations; operation++) {
    fill(values, rank, operation);
    times.push_back(reduce(context, values, operation));
    if (!isSum(values, ranks, operation)) {
      std::fprintf(stderr, "rank %d: operation %d gave a wrong sum\n", rank, operation);
      return 1;
    }
  }
  if (rank == 0) print(times, bytes);
  return 0;
}
