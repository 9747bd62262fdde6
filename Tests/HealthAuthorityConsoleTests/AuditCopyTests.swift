// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

@Suite("The verification of copies of the audit log")
struct AuditCopyTests {
  /// Lets `body` verify lines; it gets those of a log with ten entries and more.
  private func run(
    _ body: (_ lines: [String], _ copy: ([String]) -> AuditCopy) throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { _ in
    } _: { console in
      for number in 1...10 {
        _ = try await console.administration.addAccount(name: "official \(number)", role: .issuer)
      }
      let lines = CollectedLines()
      _ = try await console.administration.audit { line, _ in lines.append(line) }
      try body(lines.all) { lines in
        var copy = AuditCopy(console.administration.auditChain())
        for line in lines { copy.append(line: line) }
        return copy
      }
    }
  }

  @Test("Repeated entries, and a copy that begins with a later entry, are intact")
  func intact() async throws {
    try await run { lines, copy in
      let all = copy(lines)
      #expect(all.fault == nil && all.first == 1 && Int(all.count) == lines.count)
      let repeated = copy(Array(lines.prefix(6)) + lines[3...])
      #expect(repeated.fault == nil && repeated.repeated == 3)
      #expect(repeated.head == all.head && repeated.count == all.count)
      let later = copy(Array(lines[4...]))
      #expect(later.fault == nil && later.first == 5 && later.head == all.head)
    }
  }

  @Test("The lines of a syslog daemon are read, between those of other programs")
  func syslog() async throws {
    try await run { lines, copy in
      let file = lines.flatMap {
        ["Nov 28 09:00:00 host sshd[7]: session", "Nov 28 09:00:00 host firebreak-audit: \($0)"]
      }
      let read = copy(file)
      #expect(read.fault == nil && Int(read.count) == lines.count)
      let cut = copy(file + ["Nov 28 09:00:00 host firebreak-audit: {\"acti"])
      #expect(cut.fault?.contains("is not an entry") == true)
    }
  }

  @Test(
    "An entry that contains the tag of the messages is read, also after the words of a syslog daemon"
  )
  func tagInEntry() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { _ in
    } _: { console in
      let reason = "as in the line " + AuditForwarder.tag + "{}"
      try await console.administration.composition.audit.append(
        AuditEvent("anna", .proposed, "7", detail: reason))
      _ = try await console.administration.addAccount(name: "berta", role: .issuer)
      let lines = CollectedLines()
      _ = try await console.administration.audit { line, _ in lines.append(line) }
      #expect(lines.all.contains { $0.contains(AuditForwarder.tag) })
      for prefix in ["", "Nov 28 09:00:00 host " + AuditForwarder.tag] {
        var copy = AuditCopy(console.administration.auditChain())
        copy.append(file: lines.all.map { prefix + $0 + "\n" }.joined())
        #expect(copy.fault == nil && Int(copy.count) == lines.all.count, "\(prefix)")
      }
    }
  }

  @Test(
    "An entry that a crash has cut at the end of a file is in the next file, or it is missing",
    arguments: ["", "Nov 28 09:00:00 host firebreak-audit: "])
  func cutEnd(prefix: String) async throws {
    try await run { lines, copy in
      let own = lines.map { prefix + $0 }
      func read(_ files: String...) -> AuditCopy {
        var read = copy([])
        for file in files { read.append(file: file) }
        return read
      }
      let before = own[..<4].map { $0 + "\n" }.joined()
      let after = own[4...].map { $0 + "\n" }.joined()
      let cut = String(own[4].dropLast(20))
      let again = read(before + cut, after)
      #expect(again.fault == nil && Int(again.count) == lines.count && again.repeated == 0)
      // Nothing but the line feed is missing: the entry is read and then repeated.
      let whole = read(before + own[4], after)
      #expect(whole.fault == nil && whole.repeated == 1)
      let lost = read(before + cut, own[5...].map { $0 + "\n" }.joined())
      #expect(lost.fault?.contains("Entry 5 is missing") == true)
      // Not at the end of a file.
      let inside = read(before + cut + "\n" + after)
      #expect(inside.fault?.contains("is not an entry") == true)
    }
  }

  @Test("A missing, changed or replaced entry is a fault, and so is a copy without entries")
  func faults() async throws {
    try await run { lines, copy in
      var missing = lines
      missing.remove(at: 5)
      #expect(copy(missing).fault?.contains("Entry 6 is missing") == true)
      let changed = lines[5].replacing("official", with: "Official")
      #expect(changed != lines[5])
      #expect(copy(lines.prefix(5) + [changed] + lines[6...]).fault?.contains("changed") == true)
      // The first entry of a copy has nothing before it that would prove it.
      #expect(copy([changed] + lines[6...]).fault != nil)
      let other = lines[5].replacing(#""hash":""#, with: #""hash":"0"#)
      #expect(copy(lines + [other]).fault?.contains("copied twice") == true)
      #expect(copy(["nothing"]).fault?.contains("no entry") == true)
    }
  }
}
