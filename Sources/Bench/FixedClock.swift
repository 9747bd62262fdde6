// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import World

/// A clock that does not move.
struct FixedClock: WallClock {
  let now: Date

  func sleep(until deadline: Date) async throws {
    while true { try await Task.sleep(for: .seconds(60)) }
  }
}

extension Logger {
  /// A logger without output, for a measured server.
  static var silent: Logger { Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() } }
}
