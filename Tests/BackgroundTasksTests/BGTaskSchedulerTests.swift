// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import BackgroundTasks

@Suite("Background tasks")
struct BGTaskSchedulerTests {
  private let check = "pl.example.exposure-notification"
  private let scheduler = BGTaskScheduler()
  private let sink = RecordingSink()

  private func installed(_ identifiers: String...) -> BGTaskScheduler {
    scheduler.install(sink, permittedIdentifiers: Set(identifiers))
    return scheduler
  }

  @Test("A task is registered, requested, launched and completed")
  func story() async throws {
    let scheduler = installed(check)
    let registered = scheduler.register(forTaskWithIdentifier: check, using: nil) { task in
      task.setTaskCompleted(success: task is BGProcessingTask && task.identifier == check)
    }
    #expect(registered)
    let request = BGProcessingTaskRequest(identifier: check)
    request.requiresNetworkConnectivity = true
    request.earliestBeginDate = Date(timeIntervalSince1970: 86_400)
    try scheduler.submit(request)
    let pending = try #require(sink.last?.first)
    #expect(pending.kind == .processing && pending.requiresNetworkConnectivity)
    #expect(pending.earliestBeginDate == Date(timeIntervalSince1970: 86_400))
    let running = try #require(scheduler.launch(check))
    #expect(await running.succeeded())
    #expect(sink.last == [])
    #expect(scheduler.launch(check) == nil)
  }

  @Test("A refresh task has its own class and fails if the app reports failure")
  func refresh() async throws {
    let scheduler = installed(check)
    scheduler.register(forTaskWithIdentifier: check, using: .global()) { task in
      task.setTaskCompleted(success: !(task is BGAppRefreshTask))
    }
    try scheduler.submit(BGAppRefreshTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    #expect(await running.succeeded() == false)
  }

  @Test("A completed task ignores an expiration handler that is set later")
  func earlyCompletion() async throws {
    let expired = Mutex(false)
    let scheduler = installed(check)
    let queue = DispatchQueue(label: "app")
    scheduler.register(forTaskWithIdentifier: check, using: queue) { task in
      task.setTaskCompleted(success: true)
      task.expirationHandler = { expired.withLock { $0 = true } }
      #expect(task.expirationHandler == nil)
      task.setTaskCompleted(success: false)
    }
    try scheduler.submit(BGProcessingTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    #expect(await running.succeeded())
    running.expire()
    await queue.drained()
    #expect(expired.withLock { $0 } == false)
    #expect(await running.succeeded())
  }

  @Test("Expiration calls the expiration handler once")
  func expiry() async throws {
    let calls = Mutex(0)
    let scheduler = installed(check)
    let queue = DispatchQueue(label: "app")
    scheduler.register(forTaskWithIdentifier: check, using: queue) { task in
      task.expirationHandler = {
        calls.withLock { $0 += 1 }
        task.setTaskCompleted(success: false)
      }
    }
    try scheduler.submit(BGProcessingTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    await queue.drained()
    running.expire()
    running.expire()
    #expect(await running.succeeded() == false)
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("Expiration of a task without an expiration handler is a failure")
  func expiryWithoutHandler() async throws {
    let scheduler = installed(check)
    let queue = DispatchQueue(label: "app")
    scheduler.register(forTaskWithIdentifier: check, using: queue) { _ in }
    try scheduler.submit(BGProcessingTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    await queue.drained()
    running.expire()
    #expect(await running.succeeded() == false)
  }

  @Test("Without a sink registration and requests fail")
  func noSink() {
    #expect(scheduler.register(forTaskWithIdentifier: check, using: nil) { _ in } == false)
    let request = BGProcessingTaskRequest(identifier: check)
    do {
      try scheduler.submit(request)
      Issue.record("the request was accepted")
    } catch BGTaskScheduler.Error.unavailable {
      let message = (BGTaskScheduler.Error(.unavailable) as NSError).localizedDescription
      #expect(message.contains("install a BackgroundTaskSink"))
    } catch {
      Issue.record(error)
    }
  }

  @Test("An identifier that is not permitted or already registered is rejected")
  func identifiers() {
    let scheduler = installed(check)
    #expect(scheduler.register(forTaskWithIdentifier: "other", using: nil) { _ in } == false)
    #expect(throws: BGTaskScheduler.Error(.notPermitted)) {
      try scheduler.submit(BGProcessingTaskRequest(identifier: "other"))
    }
    #expect(scheduler.register(forTaskWithIdentifier: check, using: nil) { _ in })
    #expect(scheduler.register(forTaskWithIdentifier: check, using: nil) { _ in } == false)
    #expect(scheduler.launch(check) == nil)
  }

  @Test("Requests above one refresh task and ten processing tasks are rejected")
  func limits() async throws {
    let many = (0...BackgroundTaskLimit.pendingProcessingTasks).map { "task-\($0)" }
    scheduler.install(sink, permittedIdentifiers: Set(many))
    for identifier in many.dropLast() {
      try scheduler.submit(BGProcessingTaskRequest(identifier: identifier))
    }
    try scheduler.submit(BGProcessingTaskRequest(identifier: many[0]))
    #expect(throws: BGTaskScheduler.Error(.tooManyPendingTaskRequests)) {
      try scheduler.submit(BGProcessingTaskRequest(identifier: many[10]))
    }
    try scheduler.submit(BGAppRefreshTaskRequest(identifier: many[10]))
    #expect(throws: BGTaskScheduler.Error(.tooManyPendingTaskRequests)) {
      try scheduler.submit(BGAppRefreshTaskRequest(identifier: many[9]))
    }
    #expect(await scheduler.pendingTaskRequests().count == 11)
  }

  @Test("Pending requests can be listed and cancelled")
  func cancelling() async throws {
    let scheduler = installed(check, "other")
    try scheduler.submit(BGProcessingTaskRequest(identifier: check))
    try scheduler.submit(BGAppRefreshTaskRequest(identifier: "other"))
    let seen = await withCheckedContinuation { done in
      scheduler.getPendingTaskRequests { done.resume(returning: $0.map(\.identifier)) }
    }
    #expect(seen == [check, "other"])
    scheduler.cancel(taskRequestWithIdentifier: check)
    let left = await scheduler.pendingTaskRequests()
    #expect(left.map(\.identifier) == ["other"])
    #expect(left.first is BGAppRefreshTaskRequest)
    scheduler.cancelAllTaskRequests()
    #expect(await scheduler.pendingTaskRequests().isEmpty)
    #expect(sink.last == [])
  }

  @Test("The error codes have Apple's numbers")
  func codes() {
    #expect(BGTaskScheduler.Error.Code.allCases.map(\.rawValue) == [1, 2, 3, 4])
    let error = BGTaskScheduler.Error(.notPermitted) as NSError
    #expect(error.domain == "BGTaskSchedulerErrorDomain" && error.code == 3)
    #expect(BGTaskScheduler.errorDomain == BGTaskScheduler.Error.errorDomain)
    #expect(error.localizedDescription.contains("not permitted"))
  }

  @Test("Errors keep their values")
  func userInfo() {
    let values = [NSLocalizedDescriptionKey: "Own text"]
    let error = BGTaskScheduler.Error(.unavailable, userInfo: values)
    #expect(error.userInfo as? [String: String] == values)
    #expect((error as any Error).localizedDescription == "Own text")
    #expect(error == BGTaskScheduler.Error(.unavailable, userInfo: values))
    #expect(error != BGTaskScheduler.Error(.unavailable))
    #expect(BGTaskScheduler.Error(.unavailable).userInfo.isEmpty)
  }

  @Test("The scheduler is an object, and the copy of a request is independent of it")
  func objects() throws {
    let object: NSObject = BGTaskScheduler.shared
    #expect(object.isEqual(BGTaskScheduler.shared) && !object.isEqual(scheduler))
    let request = BGProcessingTaskRequest(identifier: check)
    request.requiresExternalPower = true
    request.earliestBeginDate = Date(timeIntervalSince1970: 60)
    let copy = try #require(request.copy() as? BGProcessingTaskRequest)
    request.requiresExternalPower = false
    #expect(copy.requiresExternalPower && !copy.requiresNetworkConnectivity)
    #expect(copy.earliestBeginDate == Date(timeIntervalSince1970: 60) && copy.identifier == check)
    #expect(BGAppRefreshTaskRequest(identifier: check).copy() is BGAppRefreshTaskRequest)
  }
}

/// A sink that records the pending requests.
final class RecordingSink: BackgroundTaskSink {
  private let changes = Mutex<[[PendingBackgroundTask]]>([])

  var last: [PendingBackgroundTask]? { changes.withLock(\.last) }

  func pendingTasksChanged(_ pending: [PendingBackgroundTask]) {
    changes.withLock { $0.append(pending) }
  }
}

extension DispatchQueue {
  /// Returns after all work queued before has run.
  func drained() async {
    await withCheckedContinuation { done in async { done.resume() } }
  }
}
