import Dispatch
import Foundation
import Logging

extension ENManager {
  /// Does `work` on the device of an active manager; `handler` is called on `dispatchQueue`.
  func ask<Value>(
    _ handler: @escaping (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable (Device) async throws -> Handoff<Value>
  ) {
    let ready = Result { () throws(ENError) in try life.requireActive() }
    answer(handler) { [device] in
      try ready.get()
      guard let device else { throw ENError(.unsupported) }
      return try await work(device)
    }
  }

  /// Does `work` away from the caller; `handler` is called on `dispatchQueue`.
  func answer<Value>(
    _ handler: @escaping (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Handoff<Value>
  ) {
    let (handler, queue, handlers) = (Handoff(handler), dispatchQueue, life.handlers)
    let logger = device?.logger
    handlers.enter()
    Task {
      let result: Handoff<Result<Value, any Error>>
      do {
        result = Handoff(.success(try await work().value))
      } catch {
        let reason = ENError.reason(for: error)
        // Its kind only: what a stranger's error says may be a secret.
        if ENError.Code.unknown ~= reason { logger?.error("a call failed: \(type(of: error))") }
        result = Handoff(.failure(reason))
      }
      queue.async {
        handler.value(result.value)
        handlers.leave()
      }
    }
  }
}

extension Result {
  /// What came of it, or nil.
  var value: Success? { try? get() }

  /// Why nothing came of it, or nil.
  var failure: Failure? {
    guard case .failure(let error) = self else { return nil }
    return error
  }
}
