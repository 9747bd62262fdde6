// SPDX-License-Identifier: Apache-2.0

/// The ports of an option, which names the first of them.
struct PortRange {
  let option: String
  let ports: Range<Int>

  /// Nil for free ports, which the system chooses.
  init?(_ option: String, from first: Int, _ count: Int) {
    guard first > 0 else { return nil }
    self.option = option
    ports = first..<first + count
  }

  /// The option with its ports, such as `--port (8080 to 8082)`.
  var text: String {
    let last = ports.count > 1 ? " to \(ports.upperBound - 1)" : ""
    return "\(option) (\(ports.lowerBound)\(last))"
  }
}
