// SPDX-License-Identifier: Apache-2.0
#include "task.h"

namespace lanecrypt::python {

void bind_task(nb::module_ &module) {
  nb::class_<Task>(module, "Task").def("run", [](Task &task) {
    task.begin();
    const Outcome outcome =
        task.context().call([&](lc_context *context) { return task.run(context); });
    if (outcome.status != LC_OK) raise(outcome, task.failed());
  });
}

}  // namespace lanecrypt::python
