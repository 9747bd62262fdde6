// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

@Suite("The copy of the audit log outside the database")
struct AuditForwarderTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.path("audit.log") }

  init() throws { folder = try TemporaryFolder() }

  private func lines() throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Lets the time pass until `condition` is true.
  private func untilForwarded(
    _ console: RunningConsole, _ condition: () throws -> Bool
  ) async throws {
    try await Patience.until {
      console.clock.advance(by: ConsoleLimit.auditForwardSeconds)
      return try condition()
    }
  }

  private func copied(_ console: RunningConsole) async throws {
    let count = try await console.administration.audit().count
    try await untilForwarded(console) { (try? lines().count) == Int(count) }
  }

  /// Waits until the newest entry is in `file`.
  private func lastCopied(to file: URL, _ console: RunningConsole) async throws {
    let last = #""sequence":\#(try await console.administration.audit().count)"#
    try await untilForwarded(console) {
      guard FileManager.default.fileExists(atPath: file.path) else { return false }
      return try String(contentsOf: file, encoding: .utf8).contains(last)
    }
  }

  @Test("Each entry is appended once, also after a restart, and the copy is an intact log")
  func file() async throws {
    var before = 0
    for name in ["anna", "berta"] {
      try await RunningConsole.run(in: folder.url) { configuration in
        configuration.auditDestination = .file(file)
      } _: { console in
        _ = try await console.administration.addAccount(name: name, role: .administrator)
        try await copied(console)
        #expect(try lines().count > before)
        before = try lines().count
        var chain = console.administration.auditChain()
        chain.append(lines: try String(contentsOf: file, encoding: .utf8))
        #expect(chain.fault == nil)
        #expect(console.console.faults.isEmpty)
      }
    }
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o600)
  }

  @Test("A file that was rotated away is created again, and the entries continue")
  func rotated() async throws {
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .file(file)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await copied(console)
      let count = try lines().count
      try FileManager.default.moveItem(at: file, to: folder.path("audit.log.1"))
      _ = try await console.administration.addAccount(name: "berta", role: .administrator)
      let added = Int(try await console.administration.audit().count) - count
      try await untilForwarded(console) { (try? lines().count) == added }
      #expect(try lines()[0].contains(#""sequence":\#(count + 1)"#))
    }
  }

  @Test(
    "A log that does not contain the last copied entry is copied from its start, with a warning")
  func replaced() async throws {
    let progress = folder.path("audit-copied.json")
    let other = #"{"sequence":7,"hash":"\#(String(repeating: "a", count: 64))"}"#
    try Data(other.utf8).write(to: progress)
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .file(file)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await copied(console)
      #expect(try lines()[0].contains(#""sequence":1"#))
      // It is logged when all entries are copied.
      try await Patience.until {
        console.log.lines.contains { $0.contains("copied from its start") }
      }
    }
  }

  @Test("An entry that a crash has cut is removed before the next one; other content stays")
  func cut() async throws {
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .file(file)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await copied(console)
      let before = try lines()
      let entry = try Data(contentsOf: file)
      try (entry + Data(before[0].utf8.prefix(40))).write(to: file)
      _ = try await console.administration.addAccount(name: "berta", role: .administrator)
      try await lastCopied(to: file, console)
      var chain = console.administration.auditChain()
      chain.append(lines: try String(contentsOf: file, encoding: .utf8))
      #expect(chain.fault == nil)
      try (try Data(contentsOf: file) + Data("a note".utf8)).write(to: file)
      _ = try await console.administration.addAccount(name: "cecilia", role: .administrator)
      try await lastCopied(to: file, console)
      #expect(try String(contentsOf: file, encoding: .utf8).contains("a note"))
    }
  }

  @Test(
    "A file that can only be appended to gets whole entries; a part that cannot be removed is a fault",
    .needs(.smallDisk))
  func appendOnly() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let file = disk.url.appendingPathComponent("audit.log")
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .file(file)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await lastCopied(to: file, console)
      try disk.makeAppendOnly(file)
      #expect(truncate(file.path, 0) != 0)
      _ = try await console.administration.addAccount(name: "berta", role: .administrator)
      try await lastCopied(to: file, console)
      #expect(console.console.faults.isEmpty)
      let copied = try Data(contentsOf: file)
      var chain = console.administration.auditChain()
      chain.append(lines: String(decoding: copied, as: UTF8.self))
      #expect(chain.fault == nil)
      let part = Data(copied.prefix(40))
      let handle = FileHandle(
        fileDescriptor: open(file.path, O_WRONLY | O_APPEND | O_CLOEXEC), closeOnDealloc: true)
      try handle.write(contentsOf: part)
      _ = try await console.administration.addAccount(name: "cecilia", role: .administrator)
      try await untilForwarded(console) { !console.console.faults.isEmpty }
      #expect(try Data(contentsOf: file) == copied + part)
    }
  }

  @Test(
    "A full disk leaves no part of an entry, and all entries follow when there is room",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 64 << 10)
    let file = disk.url.appendingPathComponent("audit.log")
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .file(file)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await lastCopied(to: file, console)
      let before = try Data(contentsOf: file)
      let ballast = disk.fill()
      // More than what is left of the last block of the file.
      for number in 1...30 {
        _ = try await console.administration.addAccount(name: "official \(number)", role: .issuer)
      }
      try await untilForwarded(console) { !console.console.faults.isEmpty }
      // Entries that fit into the last block are whole.
      let copied = try Data(contentsOf: file)
      #expect(copied.starts(with: before) && copied.last == UInt8(ascii: "\n"))
      try FileManager.default.removeItem(at: ballast)
      try await untilForwarded(console) { console.console.faults.isEmpty }
      var chain = console.administration.auditChain()
      chain.append(lines: try String(contentsOf: file, encoding: .utf8))
      #expect(chain.fault == nil)
      #expect(chain.count == (try await console.administration.audit().count))
    }
  }

  @Test(
    "A syslog daemon gets each entry as a message; without one, the console has a fault until it is back"
  )
  func syslog() async throws {
    let path = folder.path("log").path
    try await RunningConsole.run(in: folder.url) { configuration in
      configuration.auditDestination = .syslog(path: path)
    } _: { console in
      _ = try await console.administration.addAccount(name: "anna", role: .administrator)
      try await untilForwarded(console) { !console.console.faults.isEmpty }
      #expect(console.console.faults[0].contains("auditSyslog"))
      let receiver = try DatagramReceiver(path: path)
      try await untilForwarded(console) { console.console.faults.isEmpty }
      let messages = receiver.all()
      let count = try await console.administration.audit().count
      #expect(Int64(messages.count) == count)
      #expect(messages.allSatisfy { $0.hasPrefix("<85>firebreak-audit: {") })
    }
  }
}
