// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ServerOperations

@Suite("Work of a server of a realm")
struct HostedWorkTests {
  private struct Failure: Error {}

  /// Counts the attempts of the work.
  private actor Attempts {
    private(set) var count = 0

    func next() -> Int {
      count += 1
      return count
    }
  }

  @Test("Errors, also of a cancellation that is not that of the server, are followed by an attempt")
  func repeated() async throws {
    let attempts = Attempts()
    let work = HostedWork(realm: "north", logger: RealmScene.logger) {
      switch await attempts.next() {
      case 1: throw CancellationError()
      case 2: throw Failure()
      default: return
      }
    } pause: {
      // The end of the server.
      guard await attempts.count < 4 else { throw CancellationError() }
    }
    try await work.run()
    #expect(await attempts.count == 4)
  }
}
