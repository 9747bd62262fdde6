// SPDX-License-Identifier: Apache-2.0

/// One of the health authority's servers.
package enum ServerName: String, CaseIterable, Sendable {
  case verification, keys, console

  /// The name in sentences.
  package var title: String {
    switch self {
    case .verification: "verification server"
    case .keys: "key server"
    case .console: "console"
    }
  }
}

extension [ServerName] {
  /// The servers as a sentence lists them.
  package var titles: String { map(\.title).joined(separator: ", ") }
}
