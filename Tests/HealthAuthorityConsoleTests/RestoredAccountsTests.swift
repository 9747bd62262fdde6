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

  private static func administration(_ file: URL) throws -> ConsoleAdministration {
    var configuration = ConsoleConfiguration(
      databaseFile: file, secret: Data(repeating: 7, count: ConsoleConfiguration.secretBytes))
    configuration.scryptCostLog = 4
    return try ConsoleAdministration(
      configuration, clock: ManualClock(RunningConsole.start), randomness: SystemRandomness())
  }

  /// A console that begins with the data of the backup.
  private func copy(_ name: String) async throws -> ConsoleAdministration {
    let file = folder.path(name)
    try await DatabaseQueue(path: folder.path("backup").path).writeWithoutTransaction {
      try $0.execute(sql: "VACUUM INTO ?", arguments: [file.path])
    }
    return try Self.administration(file)
  }

  /// The password and the state of each account.
  private func accounts(_ name: String) async throws -> [String] {
    try await DatabaseQueue(path: folder.path(name).path).read { db in
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
    for order in [[true, false], [false, true]] {
      let name = "restored \(order)"
      let restored = try await copy(name)
      let base = try await restored.accountsOfBackup()
      for isChanged in order {
        let taken = try await restored.takeOver(
          from: isChanged ? changed : unchanged, since: base)
        #expect(taken.changed == (isChanged ? ["Celina"] : []))
        #expect(taken.disabled == (isChanged ? ["Berta"] : []))
      }
      #expect(try await accounts(name) == wanted)
    }
  }

  @Test("A removed passkey stays removed, a new one is lost, and other accounts keep theirs")
  func passkeys() async throws {
    func change(_ file: String, _ sql: String) async throws {
      try await DatabaseQueue(path: folder.path(file).path).write { try $0.execute(sql: sql) }
    }
    let insert = "INSERT INTO passkey VALUES (x'%', %, x'00', 0, 'key', 0)"
    for id in ["1", "2"] {
      try await change("backup", insert.replacing("%", with: "0\(id)"))
    }
    let earlier = try await copy("earlier")
    try await change("earlier", "DELETE FROM passkey WHERE account_id = 2")
    try await change("earlier", insert.replacing("%", with: "03"))
    let restored = try await copy("restored")
    let taken = try await restored.takeOver(
      from: earlier, since: try await restored.accountsOfBackup())
    #expect(taken.changed == ["Berta"])
    let ids = try await DatabaseQueue(path: folder.path("restored").path).read {
      try Int.fetchAll($0, sql: "SELECT account_id FROM passkey")
    }
    #expect(ids == [1])
  }

  @Test("An account with the name and number of another one takes nothing over")
  func otherAccount() async throws {
    let earlier = try await copy("earlier")
    _ = try await earlier.recoverAccount(name: "Celina")
    try await DatabaseQueue(path: folder.path("earlier").path).write {
      try $0.execute(sql: "UPDATE account SET handle = x'01' WHERE name = 'Celina'")
    }
    let restored = try await copy("restored")
    let before = try await accounts("restored")
    let taken = try await restored.takeOver(
      from: earlier, since: try await restored.accountsOfBackup())
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
    let taken = try await restored.takeOver(
      from: earlier, since: try await restored.accountsOfBackup())
    #expect(taken.disabled == ["Anna", "Berta"] && taken.lastAdministrators == ["Celina"])
  }
}
