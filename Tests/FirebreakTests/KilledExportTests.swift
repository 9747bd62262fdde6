// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Killed exports", .needs(.process))
struct KilledExportTests {
  private static let keyCount = 20_000

  /// The zip files in the export folder, and the lines of its index.
  private func published(_ folder: TemporaryFolder) throws -> (zips: [String], lines: [String]) {
    let exports = folder.path("data/exports")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: exports.path)) ?? []
    let index = try? String(
      contentsOf: exports.appendingPathComponent("index.txt"), encoding: .utf8)
    return (
      names.filter { $0.hasSuffix(".zip") && !$0.hasPrefix(".") },
      (index ?? "").split(separator: "\n").map(String.init)
    )
  }

  /// The processor time of `process` in milliseconds: unlike the elapsed time, it tells how far the process is even
  /// on a busy machine.
  private func processorTime(of process: ChildProcess) throws -> Int {
    let stat = try String(
      contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    // The name before the last parenthesis may contain spaces. The numbers are user and system time in ticks.
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    let ticks = fields.dropFirst(12).prefix(2).compactMap { Int($0) }.reduce(0, +)
    return ticks * 1_000 / sysconf(Int32(_SC_CLK_TCK))
  }

  @Test(
    "A killed export leaves no partial file and no index line without a file, and the next run completes it"
  )
  func killed() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let keys = try await Run("key-server", "signing-key", "add", "--data", data, "--json").json()
    let pem = folder.path("public.pem")
    let text = (keys?["keys"] as? [NSDictionary])?.first?["publicKey"] as? String
    try Data((text ?? "").utf8).write(to: pem)
    #expect(try await Run("verification-server", "signing-key", "add", "--data", data).status == 0)
    let now = Int(
      try await Shell.run("date +%s").output.trimmingCharacters(in: .whitespacesAndNewlines))
    let start = (try #require(now) / 14_400 - 2) * 14_400
    let database = folder.path("data/keys/keys.sqlite").path
    let fill = try await Run(
      "bench", "export-fill", database, "--keys", "\(Self.keyCount)", "--start", "\(start)")
    #expect(fill.status == 0, "\(fill.errors)")
    for round in 0..<12 {
      let milliseconds = 60 * (round + 1)
      try await ChildProcess.withRunning(
        try Run.product(), ["key-server", "export", "--now", "--data", data]
      ) { process in
        try await Patience.until {
          try process.status != nil || processorTime(of: process) >= milliseconds
        }
        process.kill()
      }
      let (zips, lines) = try published(folder)
      #expect(Set(lines).isSubset(of: Set(zips)), "killed after \(milliseconds) ms")
      for zip in zips {
        let file = folder.path("data/exports/\(zip)").path
        #expect(try await Run("keyfile", "verify", file, "--public-key", pem.path).status == 0)
      }
    }
    let last = try await Run("key-server", "export", "--now", "--data", data)
    #expect(last.status == 0, "\(last.errors)")
    let (zips, lines) = try published(folder)
    #expect(lines.count == 1 && lines == zips)
    let file = folder.path("data/exports/\(zips.first ?? "")").path
    #expect(
      try await Run("keyfile", "inspect", file, "--json").json()?["keyCount"] as? Int
        == Self.keyCount)
  }
}
