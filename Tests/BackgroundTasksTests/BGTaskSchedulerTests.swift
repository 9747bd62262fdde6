import Dispatch
import Foundation
import Synchronization
import Testing

@testable import BackgroundTasks

@Suite("Background tasks: asked for by the app, run by the program")
struct BGTaskSchedulerTests {
  private let check = "pl.example.exposure-notification"
  private let scheduler = BGTaskScheduler()
  private let sink = RecordingSink()

  private func installed(_ identifiers: String...) -> BGTaskScheduler {
    scheduler.install(sink, permittedIdentifiers: Set(identifiers))
    return scheduler
  }

  @Test("A check is registered, asked for, launched and done")
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
    let asked = try #require(sink.last?.first)
    #expect(asked.kind == .processing && asked.requiresNetworkConnectivity)
    #expect(asked.earliestBeginDate == Date(timeIntervalSince1970: 86_400))
    let running = try #require(scheduler.launch(check))
    #expect(await running.succeeded())
    #expect(sink.last == [])
    #expect(scheduler.launch(check) == nil)
  }

  @Test("A refresh task is of its own class, and fails when the app says so")
  func refresh() async throws {
    let scheduler = installed(check)
    scheduler.register(forTaskWithIdentifier: check, using: .global()) { task in
      task.setTaskCompleted(success: !(task is BGAppRefreshTask))
    }
    try scheduler.submit(BGAppRefreshTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    #expect(await running.succeeded() == false)
  }

  @Test("An app that is done before it sets its expiration handler has nothing more to fear")
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

  @Test("When the time is over the app is told, once, and says that it is done")
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

  @Test("A task without an expiration handler has failed when its time is over")
  func expiryUnheard() async throws {
    let scheduler = installed(check)
    let queue = DispatchQueue(label: "app")
    scheduler.register(forTaskWithIdentifier: check, using: queue) { _ in }
    try scheduler.submit(BGProcessingTaskRequest(identifier: check))
    let running = try #require(scheduler.launch(check))
    await queue.drained()
    running.expire()
    #expect(await running.succeeded() == false)
  }

  @Test("Without a sink nothing can be registered or asked for, and the error says what to do")
  func noSink() {
    #expect(scheduler.register(forTaskWithIdentifier: check, using: nil) { _ in } == false)
    let request = BGProcessingTaskRequest(identifier: check)
    do {
      try scheduler.submit(request)
      Issue.record("taken")
    } catch BGTaskScheduler.Error.unavailable {
      let sentence = (BGTaskScheduler.Error(.unavailable) as NSError).localizedDescription
      #expect(sentence.contains("install a BackgroundTaskSink"))
    } catch {
      Issue.record(error)
    }
  }

  @Test("An identifier that is not permitted is refused, and one is registered once")
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

  @Test("One refresh task and ten processing tasks may wait; one more is refused")
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

  @Test("What is asked for can be looked at and taken back")
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

  @Test("The error codes are Apple's")
  func codes() {
    #expect(BGTaskScheduler.Error.Code.allCases.map(\.rawValue) == [1, 2, 3])
    let error = BGTaskScheduler.Error(.notPermitted) as NSError
    #expect(error.domain == "BGTaskSchedulerErrorDomain" && error.code == 3)
  }
}
