// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite(
  "firebreak keyfile", .needs(.process), .enabled(if: SharedData.isPresent, "\(SharedData.absence)")
)
struct KeyfileCommandTests {
  private let example = SharedData.url("keyfiles/google-server-example")
  private var zip: String {
    example.appendingPathComponent("testExport-2-records-1-of-1.zip").path
  }
  private var publicKey: String { example.appendingPathComponent("public.pem").path }
  private var otherKey: String { SharedData.url("keyfiles/google-sample/public-310-v1.pem").path }

  @Test("inspect --json prints one object with the documented fields")
  func inspect() async throws {
    let run = try await Run("keyfile", "inspect", "--json", zip)
    let report = try #require(try run.json())
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(report["start"] as? Int == 1_590_159_600)
    #expect(report["end"] as? Int == 1_590_246_000)
    #expect(report["region"] as? String == "US")
    #expect(report["batchNum"] as? Int == 1)
    #expect(report["batchSize"] as? Int == 1)
    #expect(report["keyCount"] as? Int == 2)
    #expect(report["revisedKeyCount"] as? Int == 0)
    #expect(
      report["signatures"] as? [[String: String]] == [
        ["keyID": "some_id", "keyVersion": "1", "algorithm": "1.2.840.10045.4.3.2"]
      ])
    let digest = "38edb6fc758d9ba014eb66226a9ee580201de3a985dca5467234c5f41099ad3f"
    #expect(report["exportSHA256"] as? String == digest)
  }

  @Test("verify ends with 0 for the right key, 1 for another key, 2 for an invalid file or key")
  func verify() async throws {
    #expect(try await Run("keyfile", "verify", zip, "--public-key", publicKey).status == 0)
    #expect(
      try await Run(
        "keyfile", "verify", zip, "--public-key", publicKey, "--key-id", "some_id",
        "--key-version", "1"
      ).status == 0)
    #expect(
      try await Run("keyfile", "verify", zip, "--public-key", publicKey, "--key-version", "2")
        .status
        == 1)
    #expect(try await Run("keyfile", "verify", zip, "--public-key", otherKey).status == 1)
    #expect(try await Run("keyfile", "verify", zip, "--public-key", zip).status == 2)
    #expect(try await Run("keyfile", "verify", publicKey, "--public-key", publicKey).status == 2)
  }

  @Test("A file written by make verifies and has the given keys")
  func make() async throws {
    let folder = try TemporaryFolder()
    let output = folder.path("made.zip").path
    let made = try await make(
      keys: example.appendingPathComponent("keys.json"), to: folder.path("made.zip"))
    #expect(made.status == 0, "\(made.errors)")
    #expect(try await Run("keyfile", "verify", output, "--public-key", publicKey).status == 0)
    #expect(try await Run("keyfile", "inspect", "--json", output).json()?["keyCount"] as? Int == 2)
  }

  @Test("make replaces a file, but not a folder, a pipe or a link")
  func notReplaceable() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.path("folder.zip"), withIntermediateDirectories: false)
    let pipe = folder.path("pipe.zip")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      at: folder.path("link.zip"), withDestinationURL: pipe)
    for name in ["folder.zip", "pipe.zip", "link.zip"] {
      let run = try await make(
        keys: example.appendingPathComponent("keys.json"), to: folder.path(name))
      #expect(run.status == 2 && run.output.isEmpty, "\(name)")
      #expect(run.errors.contains("\(name) is not a regular file"), "\(run.errors)")
    }
    let type = try FileManager.default.attributesOfItem(atPath: pipe.path)[.type]
    #expect(type as? FileAttributeType != .typeRegular)
    try Data("old".utf8).write(to: folder.path("old.zip"))
    let old = folder.path("old.zip")
    #expect(try await make(keys: example.appendingPathComponent("keys.json"), to: old).status == 0)
    #expect(try await Run("keyfile", "verify", old.path, "--public-key", publicKey).status == 0)
  }

  private func make(keys: URL, to output: URL) async throws -> Run {
    try await Run(makeArguments(keys: keys, output: output))
  }

  private func makeArguments(keys: URL, output: URL) -> [String] {
    [
      "keyfile", "make", "--keys", keys.path, "--signing-key",
      example.appendingPathComponent("private.pem").path, "--key-id", "260", "--key-version",
      "v1", "--region", "PL", "--start", "1590159600", "--end", "1590246000", "--output",
      output.path,
    ]
  }

  /// Attempts to send a signal while a file is written.
  private static let attemptsMax = 30

  /// Sends `signal` when the process has created the temporary file for `name`, or has ended.
  ///
  /// On a thread of its own: a task may have to wait for a thread until the file is complete.
  private func send(
    _ signal: Int32, to process: ChildProcess, writing name: String, in folder: TemporaryFolder
  ) async {
    await withCheckedContinuation { (sent: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        var isWriting = false
        while !isWriting, process.status == nil {
          let names = try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)
          isWriting = names?.contains { $0.hasPrefix(".\(name).") } ?? false
          if !isWriting { usleep(200) }
        }
        process.send(signal)
        sent.resume()
      }
    }
  }

  @Test(
    "An interrupted or terminated make leaves no temporary file",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func terminated(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let keys = folder.path("keys.json")
    // Writing them takes longer than noticing that it has started. The lowest priority makes that likelier.
    let list = (0..<50_000).map { number in
      let key = withUnsafeBytes(of: UInt64(number).bigEndian) { Data(repeating: 7, count: 8) + $0 }
      return #"{"key": "\#(key.base64EncodedString())", "rollingStartNumber": 2650000}"#
    }
    try Data(#"{"temporaryExposureKeys": [\#(list.joined(separator: ","))]}"#.utf8).write(to: keys)
    var statuses: [Int32] = []
    for _ in 0..<Self.attemptsMax where !statuses.contains(128 + signal) {
      let make = makeArguments(keys: keys, output: folder.path("made.zip"))
      let status = try await ChildProcess.withRunning(
        URL(fileURLWithPath: "/usr/bin/nice"), ["-n", "19", try Run.product().path] + make
      ) { process in
        await send(signal, to: process, writing: "made.zip", in: folder)
        return try await process.wait()
      }
      statuses.append(status)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      #expect(files.filter { $0.hasPrefix(".") }.isEmpty, "\(files)")
    }
    #expect(statuses.contains(128 + signal), "make ended before the signal: \(statuses)")
  }

  @Test("A temporary file is removed once, and none is created after the removal")
  func unfinishedFile() throws {
    let folder = try TemporaryFolder()
    let url = folder.path("temporary")
    let unfinished = UnfinishedFile()
    unfinished.create {
      FileManager.default.createFile(atPath: url.path, contents: nil) ? url : nil
    }
    unfinished.remove()
    #expect(folder.files().isEmpty)
    unfinished.create {
      Issue.record("a file was created after the removal")
      return nil
    }
  }

  @Test("Bad usage ends with 2 and one line on stderr")
  func usage() async throws {
    for run in [
      try await Run("keyfile", "verify"), try await Run("nonsense"), try await Run("keyfile", "x"),
    ] {
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test("Help and version end with 0 and print to stdout")
  func help() async throws {
    for run in [
      try await Run("--help"), try await Run("keyfile", "make", "--help"),
      try await Run("--version"),
    ] {
      #expect(run.status == 0 && !run.output.isEmpty && run.errors.isEmpty)
    }
  }
}
