// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Lines that a closure collects.
final class CollectedLines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func append(_ line: String) { lines.withLock { $0.append(line) } }
}
