// SPDX-License-Identifier: MIT
//
// A thread's worth of tasks on a queue of their own. The pool that tasks run on by default has a thread for each core and is everybody's: what
// asks Vonage is to depend on nobody, and nobody on it. Its tasks wait for nothing but by suspending, so that one at a time is enough.

import Dispatch

final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
