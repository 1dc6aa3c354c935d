#include "runtime/step_thread.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kro {

StepThread::StepThread(const char* name, Step step)
    : thread_([name, step = std::move(step)](std::stop_token stop) {
        pthread_setname_np(pthread_self(), name);
        std::mutex mutex;
        std::condition_variable_any never;
        while (!stop.stop_requested()) {
          const milliseconds pause = step(stop);
          if (pause <= milliseconds::zero()) continue;
          std::unique_lock lock(mutex);
          never.wait_for(lock, stop, pause, [] { return false; });
        }
      }) {}

}  // namespace kro
