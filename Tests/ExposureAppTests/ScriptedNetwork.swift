import Foundation
import Synchronization

@testable import ExposureApp

/// Servers that answer by script, path by path; a path without a script answers 404. The last reply
/// of a script is given again and again.
final class ScriptedNetwork: Network {
  enum Reply: Sendable {
    case answer(Int, Data = Data(), retryAfter: Int? = nil)
    case fails(NetworkFailure)
    /// Never answers; ends when the task is cancelled.
    case hangs

    static func text(_ text: String) -> Reply { .answer(200, Data(text.utf8)) }
  }

  private struct State {
    var scripts: [String: [Reply]] = [:]
    var requests: [NetworkRequest] = []
    var running = 0
    var runningMax = 0
  }

  let connection: NetworkConnection
  private let state = Mutex(State())

  init(connection: NetworkConnection = .wifi) { self.connection = connection }

  var requests: [NetworkRequest] { state.withLock { $0.requests } }
  /// How many downloads went on at the same time, at most.
  var runningMax: Int { state.withLock { $0.runningMax } }

  func requests(for path: String) -> [NetworkRequest] { requests.filter { $0.url.path == path } }

  func script(_ path: String, _ replies: Reply...) {
    state.withLock { $0.scripts[path] = replies }
  }

  func index(_ names: [String]) {
    script("/index.txt", .text(names.joined(separator: "\n")))
  }

  func send(_ request: NetworkRequest) async throws -> NetworkAnswer {
    switch reply(to: request) {
    case .answer(let status, let body, let retryAfter):
      return NetworkAnswer(status: status, body: body, retryAfterSeconds: retryAfter)
    case .fails(let failure): throw failure
    case .hangs:
      try await Task.sleep(for: .seconds(3_600))
      throw NetworkFailure.timedOut
    }
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkAnswer {
    state.withLock {
      $0.running += 1
      $0.runningMax = max($0.runningMax, $0.running)
    }
    defer { state.withLock { $0.running -= 1 } }
    for _ in 0..<20 { await Task.yield() }
    let answer = try await send(request)
    if answer.status == 200 {
      do {
        try answer.body.write(to: file)
      } catch {
        throw NetworkFailure.diskFull
      }
    }
    return NetworkAnswer(status: answer.status)
  }

  private func reply(to request: NetworkRequest) -> Reply {
    state.withLock { state in
      state.requests.append(request)
      guard var script = state.scripts[request.url.path], let first = script.first else {
        return .answer(404)
      }
      if script.count > 1 {
        script.removeFirst()
        state.scripts[request.url.path] = script
      }
      return first
    }
  }
}
