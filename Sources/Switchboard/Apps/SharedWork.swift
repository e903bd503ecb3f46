// SPDX-License-Identifier: MIT
//
// The same work asked for by many at once is done once, and all get its outcome. Nothing is kept behind it: who asks later asks anew.

import Locking

final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let executor: QueueExecutor
    private let underWay = Locked<[Key: Task<Result<Value, AppError>, Never>]>([:])

    init(_ executor: QueueExecutor) { self.executor = executor }

    /// The outcome of the work that is under way for this key, else of this one.
    func value(for key: Key, _ work: @escaping @Sendable () async throws(AppError) -> Value) async throws(AppError) -> Value {
        let task = underWay.withLock { tasks in
            if let task = tasks[key] { return task }
            let task = Task(executorPreference: executor) {
                let result: Result<Value, AppError>
                do throws(AppError) { result = .success(try await work()) } catch { result = .failure(error) }
                self.underWay.withLock { $0[key] = nil }
                return result
            }
            tasks[key] = task
            return task
        }
        return try await task.value.get()
    }
}
