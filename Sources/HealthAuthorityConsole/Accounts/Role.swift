// SPDX-License-Identifier: Apache-2.0
/// The roles of officials.
package enum Role: String, CaseIterable, Codable, Sendable {
  /// Issues codes and looks up their status.
  case issuer
  /// Reads statistics and changes the remote configuration, with the approval of another person.
  case epidemiologist
  /// Administers accounts, keys and phones, and may do everything else.
  case administrator

  var rights: Set<Right> {
    switch self {
    case .issuer: [.issueCodes]
    case .epidemiologist: [.readStatistics, .changeConfiguration]
    case .administrator: Set(Right.allCases)
    }
  }
}
