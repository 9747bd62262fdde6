// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// The account of an official.
package struct Account: Hashable, Sendable {
  let id: Int64
  /// The name that is typed at the sign-in; upper and lower case are the same.
  let name: String
  let role: Role
  /// The user handle of passkeys: random bytes that identify the account.
  let handle: Data
  /// True if a password and a code generator are set.
  let isComplete: Bool
  let isDisabled: Bool
  let createdAt: Int64
  /// The number of a group of accounts that one person could control. A new account has a group of its own.
  let circle: Int64

  init(_ row: Row) {
    id = row["id"]
    name = row["name"]
    let role: String = row["role"]
    // An unknown role, from a newer version, gets the fewest rights.
    self.role = Role(rawValue: role) ?? .issuer
    handle = row["handle"]
    let hash: String? = row["password_hash"]
    isComplete = hash != nil
    let disabledAt: Int64? = row["disabled_at"]
    isDisabled = disabledAt != nil
    createdAt = row["created_at"]
    circle = row["circle"]
  }

  /// True if no single person can have set the passwords of both accounts.
  ///
  /// An administrator could use a link that they made for another account, and make further links with that account. So
  /// if a link is used, all accounts in the circle of its account join the circle of the administrator who made it.
  func isIndependent(of other: Account) -> Bool { circle != other.circle }
}

/// The groups of pages that a role opens.
enum Right: String, CaseIterable, Sendable {
  /// Issue codes, look up and end them.
  case issueCodes
  /// The funnel and the list of exports.
  case readStatistics
  /// Propose and approve remote configurations.
  case changeConfiguration
  /// Pause phones and withdraw key files.
  case operatePhones
  /// Signing keys, API keys, authorities and apps.
  case administerKeys
  /// Accounts.
  case administerAccounts
  /// The audit log.
  case readAudit

  /// True if the forms of these pages need a sign-in of the last minutes, so that a thief of a session can use none.
  var needsFreshSignIn: Bool {
    [.operatePhones, .administerKeys, .administerAccounts].contains(self)
  }
}

/// The rule for names of accounts.
enum AccountName {
  /// The name with one space between words, as pages show it; nil if it is not allowed.
  ///
  /// - Parameter characters: The allowed lengths.
  static func checked(_ text: String, _ characters: ClosedRange<Int>) -> String? {
    let name = words(text)
    let isPlain = name.unicodeScalars.allSatisfy {
      CharacterSet.alphanumerics.contains($0) || " .-_@'".unicodeScalars.contains($0)
    }
    // The audit log must not take an account for an operator, in any language.
    let reserved =
      [AuditEvent.commandLine]
      + ConsoleLanguage.allCases.map { Texts($0)[.auditCommandLine] }
    let isReserved = reserved.map(LookAlikeName.init).contains(LookAlikeName(name))
    return characters.contains(name.count) && isPlain && !isReserved ? name : nil
  }

  /// The form in which names are compared.
  static func key(_ name: String) -> String {
    words(name).precomposedStringWithCanonicalMapping.lowercased()
  }

  private static func words(_ text: String) -> String {
    text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: " ")
      .joined(separator: " ")
  }
}
