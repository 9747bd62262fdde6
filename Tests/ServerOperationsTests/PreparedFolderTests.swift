// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import ServerOperations
import Settings
import Terminal
import TestSupport
import Testing

/// Operations on a folder that has settings, and neither keys nor a database.
@Suite("Operations before the first start")
struct PreparedFolderTests {
  private let folder: TemporaryFolder
  private let setup: ServerSetup

  init() throws {
    folder = try TemporaryFolder()
    let keys = folder.path("data").appendingPathComponent("keys")
    try FileManager.default.createDirectory(
      at: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(#"{"region": "PL"}"#.utf8).write(to: keys.appendingPathComponent("settings.json"))
    setup = ServerSetup(folder: ServerFolder(at: folder.path("data").path)) { _ in }
  }

  private func files() -> [String] { folder.files().map(\.lastPathComponent).sorted() }

  /// The message of the `CommandFailure` that `work` throws; an empty one if it throws none.
  private func message(_ work: () async throws -> Void) async -> String {
    do {
      try await work()
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("A folder is created at a path with .. after a folder that does not exist")
  func missingParent() throws {
    let created = try ServerFolder(at: folder.url.path + "/none/../new/data").create()
      .map(\.standardizedFileURL.path)
    #expect(created.prefix(2) == [folder.path("new").path, folder.path("new/data").path])
    #expect(Set(created).count == created.count)
    #expect(FileManager.default.fileExists(atPath: folder.path("new/data").path))
  }

  @Test("Each server has its own configuration file or none; commands on all refuse different ones")
  func configurationFiles() throws {
    let folder = ServerFolder(at: folder.path("data").path)
    try folder.create()
    func start(_ servers: [ServerName], _ file: String?) throws {
      let locks = try ServerLocks(folder, servers)
      defer { withExtendedLifetime(locks) {} }
      try folder.rememberConfiguration(file.map { URL(fileURLWithPath: $0) }, of: servers)
    }
    func remembered(_ server: ServerName?) throws -> String? {
      try folder.rememberedConfiguration(of: server)?.path
    }
    #expect(try remembered(nil) == nil && remembered(.keys) == nil)
    try start(ServerName.allCases, "/etc/a-with-a-long-name.json")
    #expect(try remembered(nil) == "/etc/a-with-a-long-name.json")
    try start([.keys], "/etc/b.json")
    #expect(try remembered(.keys) == "/etc/b.json")
    #expect(try remembered(.verification) == "/etc/a-with-a-long-name.json")
    #expect(throws: CommandFailure.self) { try remembered(nil) }
    try start([.keys], nil)
    #expect(try remembered(.keys) == nil)
    #expect(throws: CommandFailure.self) { try remembered(nil) }
    try start(ServerName.allCases, nil)
    #expect(try remembered(nil) == nil)
  }

  @Test("The register is not created without its secrets, and the error says what to do")
  func register() async throws {
    for _ in 0..<2 {
      for message in [
        await message { try await setup.withRegistry { _ = try await $0.apps() } },
        await message { _ = try await setup.registeredApps() },
        await message { _ = try await setup.registeredAuthorities() },
      ] {
        #expect(message.hasPrefix("The key server of "), "\(message)")
        #expect(message.hasSuffix("has no apps and authorities yet: add one, or start it first."))
      }
      #expect(files() == ["settings.json"])
    }
  }

  @Test("A new register has secrets, and is opened again without them being created")
  func newRegister() async throws {
    for isNew in [true, false, true] {
      let apps = try await setup.withRegistry(isNew: isNew) { try await $0.apps() }
      #expect(apps.isEmpty)
      #expect(files().contains("secrets.json") && files().contains("keys.sqlite"))
    }
    let listed = try await setup.registeredApps()
    #expect(!listed.isEmpty && !listed.contains { !$0.isInSettings })
  }

  @Test("An export creates no keys")
  func export() async throws {
    for _ in 0..<2 {
      let message = await message { _ = try await setup.exportNow() }
      #expect(message.hasSuffix("has no keys yet: start it first."), "\(message)")
      #expect(files() == ["settings.json"])
    }
  }

  @Test("An operation on accounts creates no database, apart from the one that adds them")
  func accounts() async throws {
    for _ in 0..<2 {
      let message = await message {
        try await setup.withConsole { try await $0.setAccount(name: "Anna", isDisabled: true) }
      }
      #expect(message.hasSuffix("has no database yet: add an account first."), "\(message)")
      #expect(files() == ["settings.json"])
    }
    _ = try await setup.addAccount(name: "Anna", role: .administrator)
    _ = try await setup.withConsole { try await $0.recoverAccount(name: "Anna") }
  }

  @Test("A clock is neither compared nor confirmed without a database")
  func clock() async throws {
    for server in ServerName.allCases {
      for message in [
        await message { _ = try await setup.clockComparison(of: server) },
        await message { try await setup.confirmClock(of: server) },
      ] {
        #expect(message.hasPrefix("There is no database "), "\(message)")
      }
    }
    #expect(files() == ["settings.json"])
  }
}
