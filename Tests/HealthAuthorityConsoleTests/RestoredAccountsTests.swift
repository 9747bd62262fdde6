// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The changes that a restored console takes over from consoles that have continued after the backup.
@Suite struct RestoredAccountsTests {
  private let folder: TemporaryFolder
  private let backup: ConsoleAdministration

  init() async throws {
    folder = try TemporaryFolder()
    backup = try Self.administration(folder.path("backup"))
    for name in ["Anna", "Berta", "Celina"] {
      _ = try await backup.addAccount(name: name, role: .administrator)
    }
  }

  /// A console on the database `file`, whose clock is `seconds` after the start.
  private static func administration(
    _ file: URL, at seconds: TimeInterval = 0
  ) throws -> ConsoleAdministration {
    var configuration = ConsoleConfiguration(
      databaseFile: file, secret: Data(repeating: 7, count: ConsoleConfiguration.secretBytes))
    configuration.scryptCostLog = 4
    return try ConsoleAdministration(
      configuration, clock: ManualClock(RunningConsole.start.addingTimeInterval(seconds)),
      randomness: SystemRandomness())
  }

  /// A console that begins with the data of the backup, or of another console, `seconds` after the start.
  private func copy(
    _ name: String, of source: String = "backup", at seconds: TimeInterval = 0
  ) async throws -> ConsoleAdministration {
    let file = folder.path(name)
    try await DatabaseQueue(waitingAt: folder.path(source).path).writeWithoutTransaction {
      try $0.execute(sql: "VACUUM INTO ?", arguments: [file.path])
    }
    return try Self.administration(file, at: seconds)
  }

  /// Lets `restored` take over the changes of `earlier`.
  private func takeOver(
    by restored: ConsoleAdministration, from earlier: [ConsoleAdministration],
    hasContinued: Bool = true
  ) async throws -> RestoredAccounts {
    let base = try await restored.accountsOfBackup()
    var consoles: [EarlierConsole] = []
    for console in earlier {
      consoles.append(try await console.changes(since: base, hasContinued: hasContinued))
    }
    return try await restored.takeOver(from: consoles, since: base)
  }

  /// The password and the state of each account.
  private func accounts(_ name: String) async throws -> [String] {
    try await DatabaseQueue(waitingAt: folder.path(name).path).read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT name, password_hash, hex(sealed_code_secret), circle, disabled_at IS NULL,
            (SELECT count(*) FROM passkey WHERE account_id = account.id)
          FROM account ORDER BY name
          """
      ).map(\.description)
    }
  }

  @Test("A replaced password and a disabled account stay so, whatever another earlier console has")
  func replaced() async throws {
    let (changed, unchanged) = (try await copy("changed"), try await copy("unchanged"))
    _ = try await changed.recoverAccount(name: "Celina")
    try await changed.setAccount(name: "Berta", isDisabled: true)
    let wanted = try await accounts("changed")
    let first = try await accounts("backup")
    #expect(wanted != first)
    for isFirst in [true, false] {
      let name = "restored \(isFirst)"
      let restored = try await copy(name)
      let taken = try await takeOver(
        by: restored, from: isFirst ? [changed, unchanged] : [unchanged, changed])
      #expect(taken.changed == ["Celina"] && taken.disabled == ["Berta"])
      #expect(try await accounts(name) == wanted)
    }
  }

  @Test("A removed passkey stays removed, a new one is lost, and other accounts keep theirs")
  func passkeys() async throws {
    func change(_ file: String, _ sql: String) async throws {
      try await DatabaseQueue(waitingAt: folder.path(file).path).write { try $0.execute(sql: sql) }
    }
    let insert = "INSERT INTO passkey VALUES (x'%', %, x'00', 0, 'key', 0)"
    for id in ["1", "2"] {
      try await change("backup", insert.replacing("%", with: "0\(id)"))
    }
    let earlier = try await copy("earlier")
    try await change("earlier", "DELETE FROM passkey WHERE account_id = 2")
    try await change("earlier", insert.replacing("%", with: "03"))
    let restored = try await copy("restored")
    let taken = try await takeOver(by: restored, from: [earlier])
    #expect(taken.changed == ["Berta"])
    let ids = try await DatabaseQueue(waitingAt: folder.path("restored").path).read {
      try Int.fetchAll($0, sql: "SELECT account_id FROM passkey")
    }
    #expect(ids == [1])
  }

  @Test(
    "Of several earlier consoles the newest change of an account counts, in any order",
    arguments: [false, true])
  func newest(isFirst: Bool) async throws {
    let older = try await copy("older", at: 10)
    _ = try await older.recoverAccount(name: "Celina")
    for name in ["Anna", "Berta"] { try await older.setAccount(name: name, isDisabled: true) }
    // It was restored with the older one beside it.
    let newer = try await copy("newer", at: 20)
    _ = try await takeOver(by: newer, from: [older])
    let last = try Self.administration(folder.path("newer"), at: 30)
    _ = try await last.recoverAccount(name: "Celina")
    try await last.setAccount(name: "Anna", isDisabled: false)
    let wanted = try await accounts("newer")
    for round in 1...2 {
      let restored = try await copy("restored \(round)")
      let taken = try await takeOver(by: restored, from: isFirst ? [last, older] : [older, last])
      #expect(taken.changed == ["Celina"] && taken.disabled == ["Berta"])
      #expect(try await accounts("restored \(round)") == wanted)
    }
  }

  @Test("A console that has not continued revokes what its log has after the backup, and no more")
  func diverged() async throws {
    let older = try await copy("older", at: 5)
    for console in [older, try Self.administration(folder.path("backup"), at: 10)] {
      try await console.setAccount(name: "Anna", isDisabled: true)
      _ = try await console.recoverAccount(name: "Celina")
      try await console.setAccount(name: "Anna", isDisabled: false)
    }
    // A restoration of an older backup, in which an account is disabled later.
    let diverged = try await copy("diverged", of: "older", at: 20)
    try await diverged.setAccount(name: "Berta", isDisabled: true)
    let restored = try await copy("restored")
    let before = try await accounts("restored")
    let ancestor = try await takeOver(
      by: restored, from: [try await copy("ancestor")], hasContinued: false)
    #expect(ancestor.changed.isEmpty && ancestor.disabled.isEmpty)
    #expect(try await accounts("restored") == before)
    let taken = try await takeOver(by: restored, from: [diverged], hasContinued: false)
    #expect(taken.disabled == ["Berta"] && taken.changed.isEmpty)
  }

  @Test("An account with the name and number of another one takes nothing over")
  func otherAccount() async throws {
    let earlier = try await copy("earlier")
    _ = try await earlier.recoverAccount(name: "Celina")
    try await DatabaseQueue(waitingAt: folder.path("earlier").path).write {
      try $0.execute(sql: "UPDATE account SET handle = x'01' WHERE name = 'Celina'")
    }
    let restored = try await copy("restored")
    let before = try await accounts("restored")
    let taken = try await takeOver(by: restored, from: [earlier])
    #expect(taken.changed.isEmpty)
    #expect(try await accounts("restored") == before)
  }

  @Test("The last administrator is not disabled, but named")
  func lastAdministrator() async throws {
    let earlier = try await copy("earlier")
    // The administrator who is left there is newer than the backup.
    _ = try await earlier.addAccount(name: "Dora", role: .administrator)
    for name in ["Anna", "Berta", "Celina"] {
      try await earlier.setAccount(name: name, isDisabled: true)
    }
    let restored = try await copy("restored")
    let taken = try await takeOver(by: restored, from: [earlier])
    #expect(taken.disabled == ["Anna", "Berta"] && taken.lastAdministrators == ["Celina"])
  }
}
