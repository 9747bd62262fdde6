// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing

/// A change of a zip that deviates from the format.
struct ZipChange: CustomTestStringConvertible, Sendable {
  let testDescription: String
  /// The words that the tools print.
  let notes: [String]
  let change: @Sendable (inout RawZip) -> Void

  init(
    _ title: String, _ notes: [String], _ change: @escaping @Sendable (inout RawZip) -> Void
  ) {
    (testDescription, self.notes, self.change) = (title, notes, change)
  }
}

@Suite("firebreak keyfile with files that deviate from the format", .needs(.process))
struct OddKeyFileTests {
  private let folder: TemporaryFolder
  private let made: HandmadeKeyFile
  private let publicKey: String
  private let sightings: String

  init() throws {
    folder = try TemporaryFolder()
    made = try HandmadeKeyFile()
    publicKey = folder.path("public.pem").path
    sightings = folder.path("sightings.csv").path
    try Data(made.privateKey.publicKey.pemRepresentation.utf8)
      .write(to: folder.path("public.pem"))
    try Data("rpi,aem,unix_time,rssi\n".utf8).write(to: folder.path("sightings.csv"))
  }

  private func write(_ zip: RawZip, leading: [UInt8] = []) throws -> String {
    let file = folder.path("odd.zip")
    try Data(leading + zip.bytes).write(to: file)
    return file.path
  }

  static let readable = [
    ZipChange("a comment", ["skipped a comment of 5 bytes"]) { $0.comment = Array("hello".utf8) },
    ZipChange("the Netherlands", ["skipped content.sig"]) {
      $0.entries.append(.init(name: "content.sig", content: [1, 2, 3]))
    },
    ZipChange("macOS", ["skipped the folder __MACOSX/", "skipped __MACOSX/._export.bin"]) {
      $0.entries.append(.init(name: "__MACOSX/", content: [], mode: 0o040755))
      $0.entries.append(.init(name: "__MACOSX/._export.bin", content: [1]))
    },
    ZipChange("a path", ["read ./export.bin as export.bin"]) {
      $0.entries[0].name = "./export.bin"
    },
    ZipChange(
      "a folder", ["skipped the folder keys/", "read keys/EXPORT.SIG as export.sig"]
    ) {
      $0.entries[1].name = "keys/EXPORT.SIG"
      $0.entries.insert(.init(name: "keys/", content: [], mode: 0o040755), at: 0)
    },
    ZipChange("control characters", ["skipped a\u{fffd}[2Jb"]) {
      $0.entries.append(.init(name: "a\u{1b}[2Jb", content: []))
    },
    ZipChange("zip64", []) { $0.isZip64 = true },
  ]

  @Test("A deviating file is read and verified, with a note of each deviation", arguments: readable)
  func accepted(change: ZipChange) async throws {
    var zip = made.zip
    change.change(&zip)
    let file = try write(zip)
    let report = try await Run("keyfile", "inspect", "--json", file)
    #expect(report.status == 0, "\(report.errors)")
    #expect(try report.json()?["keyCount"] as? Int == 2)
    #expect((try report.json()?["deviations"] as? [String])?.count == change.notes.count)
    let table = try await Run("keyfile", "inspect", file)
    let verified = try await Run("keyfile", "verify", file, "--public-key", publicKey)
    let match = try await Run(
      "match", "--sightings", sightings, "--public-key", publicKey, "--json", file)
    #expect(verified.status == 0 && verified.output.hasPrefix("Valid: 2 keys"))
    #expect(try match.json()?["keysRead"] as? Int == 2, "\(match.errors)")
    for text in change.notes {
      #expect(table.output.contains(text), "\(table.output)")
      for run in [verified, match] { #expect(run.errors.contains(text), "\(run.errors)") }
    }
    if change.notes.isEmpty { #expect(verified.errors.isEmpty && match.errors.isEmpty) }
  }

  static let unreadable = [
    ZipChange("bzip2", ["compressed with bzip2"]) { $0.entries[0].method = 12 },
    ZipChange("lzma", ["compressed with lzma"]) { $0.entries[1].method = 14 },
    ZipChange("two exports", ["the same entry twice"]) {
      $0.entries.append($0.entries[0])
      $0.entries[2].name = "EXPORT.BIN"
    },
    ZipChange("no export", ["no export.bin"]) { $0.entries.removeFirst() },
    ZipChange("encrypted", ["The zip is encrypted"]) { $0.entries[0].flags = 1 },
    ZipChange("a link", ["a link in place of a file"]) { $0.entries[1].mode = 0o120777 },
    ZipChange("an absolute path", ["The path of export.bin is absolute"]) {
      $0.entries[0].name = "/export.bin"
    },
  ]

  @Test("A file that cannot be read is named, with the cause in one line", arguments: unreadable)
  func rejected(change: ZipChange) async throws {
    var zip = made.zip
    change.change(&zip)
    let file = try write(zip)
    for run in [
      try await Run("keyfile", "inspect", file),
      try await Run("keyfile", "verify", file, "--public-key", publicKey),
      try await Run("match", "--sightings", sightings, "--unsigned", file),
    ] {
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.hasPrefix("firebreak: \(file): "), "\(run.errors)")
      #expect(run.errors.contains(change.notes[0]), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test("Every error of inspect and verify names the file")
  func names() async throws {
    let missing = folder.path("missing.zip").path
    let truncated = folder.path("truncated.zip")
    try Data(made.zip.bytes.dropLast(9)).write(to: truncated)
    try Data().write(to: folder.path("empty.zip"))
    var unsigned = made.zip
    unsigned.entries.removeLast()
    for (file, status) in [
      (missing, Int32(2)), (folder.url.path, 2), (truncated.path, 2),
      (folder.path("empty.zip").path, 2), (try write(unsigned), 1),
    ] {
      let run = try await Run("keyfile", "verify", file, "--public-key", publicKey)
      #expect(run.status == status && run.errors.hasPrefix("firebreak: \(file): "), "\(run.errors)")
      if file == folder.url.path { #expect(run.errors.contains("This is a folder")) }
      if file.hasSuffix("empty.zip") { #expect(run.errors.contains("The file is empty")) }
      guard status == 2 else { continue }
      let inspected = try await Run("keyfile", "inspect", file)
      #expect(inspected.status == 2 && inspected.errors == run.errors, "\(inspected.errors)")
    }
  }

  @Test("Another kind of file is named, as a file and on stdin")
  func otherKinds() async throws {
    let program = try Run.product().path
    for (content, words) in [
      (Data([0x1f, 0x8b, 8, 0]), "This is a gzip file and no key file: unpack it with gunzip."),
      (Data("<!DOCTYPE html><p>404".utf8), "This is a web page and no key file"),
      (Data(made.zip.bytes).base64EncodedData(), "This is a zip in base64 and no key file"),
      (Data("\u{feff}".utf8) + made.export, "This is an export that was changed as text"),
      (Data("hello".utf8), "This is neither a zip nor an export.bin"),
    ] {
      let file = folder.path("other")
      try content.write(to: file)
      let run = try await Run("keyfile", "inspect", file.path)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.hasPrefix("firebreak: \(file.path): \(words)"), "\(run.errors)")
      let piped = try await Shell.run("'\(program)' keyfile inspect - < '\(file.path)'")
      #expect(piped.errors.hasPrefix("firebreak: standard input: \(words)"), "\(piped.errors)")
    }
    let signatures = folder.path("export.sig")
    try Data(made.signatures).write(to: signatures)
    let run = try await Run("keyfile", "inspect", signatures.path)
    #expect(run.status == 2 && run.errors.contains("name the export.bin beside it"))
  }

  @Test("An algorithm name is accepted and shown as it is written")
  func algorithm() async throws {
    let made = try HandmadeKeyFile(algorithm: "ecdsa-with-SHA256")
    let file = try write(made.zip)
    try Data(made.privateKey.publicKey.pemRepresentation.utf8)
      .write(to: folder.path("public.pem"))
    let verified = try await Run("keyfile", "verify", file, "--public-key", publicKey)
    #expect(verified.status == 0, "\(verified.errors)")
    let report = try await Run("keyfile", "inspect", "--json", file).json()
    let signatures = report?["signatures"] as? [[String: String]]
    #expect(signatures?.map { $0["algorithm"] } == ["ecdsa-with-SHA256"])
    #expect(try await Run("keyfile", "inspect", file).output.contains("v1, ecdsa-with-SHA256"))
  }

  @Test("A file is read from stdin with -, as a zip or as an export")
  func standardInput() async throws {
    let zip = try write(made.zip)
    try Data(made.export).write(to: folder.path("export.bin"))
    let program = try Run.product().path
    let verified = try await Shell.run(
      "'\(program)' keyfile verify - --public-key '\(publicKey)' < '\(zip)'")
    #expect(verified.status == 0 && verified.output.hasPrefix("Valid: 2"), "\(verified.errors)")
    let piped = try await Shell.run("cat '\(zip)' | '\(program)' keyfile inspect -")
    #expect(piped.status == 0 && piped.output.hasPrefix("standard input\n"), "\(piped.errors)")
    let export = try await Shell.run(
      "'\(program)' match --unsigned --sightings '\(sightings)' --json - "
        + "< '\(folder.path("export.bin").path)'")
    #expect(export.output.contains(#""keysRead":2"#), "\(export.errors)")
    let empty = try await Shell.run("'\(program)' keyfile inspect - < /dev/null")
    #expect(empty.errors == "firebreak: standard input: The file is empty: download it again.\n")
    let substituted = try await Shell.run("'\(program)' keyfile inspect <(cat '\(zip)')")
    #expect(substituted.status == 0, "\(substituted.errors)")
    let twice = try await Run("match", "--unsigned", "--sightings", sightings, "-", "-")
    #expect(twice.status == 2 && twice.errors.contains("at most once"), "\(twice.errors)")
  }

  @Test(
    "Every published file is inspected and verified, as it is and with odd changes",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func published() async throws {
    let root = SharedData.url("keyfiles")
    let files =
      (FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?
        .compactMap { $0 as? URL } ?? [])
    let zips = files.filter { $0.pathExtension == "zip" }
    #expect(zips.count >= 2)
    for zip in zips {
      let key = try #require(
        files.first {
          $0.deletingLastPathComponent() == zip.deletingLastPathComponent()
            && $0.lastPathComponent.hasPrefix("public")
        })
      let plain = try await Run("keyfile", "inspect", "--json", zip.path).json()
      #expect((plain?["deviations"] as? [String])?.isEmpty == true)
      for (change, note) in try Self.changes(of: zip) {
        let odd = folder.path("odd.zip")
        try change.write(to: odd)
        let report = try await Run("keyfile", "inspect", "--json", odd.path).json()
        #expect(report?["exportSHA256"] as? String == plain?["exportSHA256"] as? String)
        #expect(report?["deviations"] as? [String] == note)
        let run = try await Run("keyfile", "verify", odd.path, "--public-key", key.path)
        #expect(run.status == 0, "\(run.errors)")
      }
    }
  }

  /// The file at `zip`, with a comment, with upper-case names, and between other bytes.
  private static func changes(of zip: URL) throws -> [(Data, [String])] {
    let plain = try Data(contentsOf: zip)
    var (comment, upperCase) = (plain, plain)
    comment[comment.count - 2] = 3
    comment += Data("abc".utf8)
    while let name = upperCase.range(of: Data("export.bin".utf8)) {
      upperCase.replaceSubrange(name, with: Data("EXPORT.BIN".utf8))
    }
    return [
      (plain, []), (comment, ["skipped a comment of 3 bytes"]),
      (upperCase, ["read EXPORT.BIN as export.bin"]),
      (Data("#!/bin/sh\n".utf8) + plain, ["skipped 10 bytes before the zip"]),
      (plain + Data("\r\n".utf8), ["skipped 2 bytes after the zip"]),
    ]
  }
}
