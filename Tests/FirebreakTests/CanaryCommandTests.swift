// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing
import World

@Suite("The command canary", .needs(.process))
struct CanaryCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ options: [String] = []) async throws -> Run {
    try await Run(
      [
        "canary", "--data", folder.path("canary").path, "--verification-server",
        "http://127.0.0.1:1", "--key-server", "http://127.0.0.1:1", "--api-key-file",
        folder.path("key").path, "--root-key", folder.path("root.pem").path,
      ] + options)
  }

  /// The API key and the root key that every round reads before it begins.
  private func createKeys() async throws {
    let made = try await Shell.run(
      "cd '\(folder.url.path)' && umask 077 && echo key > key"
        + " && openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -out root.pem")
    #expect(made.status == 0, "\(made.errors)")
  }

  @Test("While a round runs in a folder, another one there is refused, and leaves its phones")
  func locked() async throws {
    try await createKeys()
    let phones = folder.path("canary/phones/ill")
    try FileManager.default.createDirectory(at: phones, withIntermediateDirectories: true)
    let lock = try FolderLock.hold(on: folder.path("canary"))
    #expect(lock != nil)
    let refused = try await run()
    #expect(refused.status == 2 && refused.errors.contains("Another round"), "\(refused)")
    #expect(FileManager.default.fileExists(atPath: phones.path))
    withExtendedLifetime(lock) {}
  }

  @Test("A failed round ends with 1 and names its step in its metrics, also a second one")
  func failed() async throws {
    try await createKeys()
    let metrics = folder.path("canary.prom")
    for _ in 1...2 {
      let run = try await run(["--metrics", metrics.path])
      #expect(run.status == 1 && run.output.hasPrefix("The step code failed: "), "\(run)")
      #expect(!run.output.contains(".."), "\(run)")
      let text = try String(contentsOf: metrics, encoding: .utf8)
      #expect(text.contains("firebreak_canary_failed{step=\"code\"} 1\n"), "\(text)")
      #expect(text.contains("firebreak_canary_last_success_timestamp_seconds 0\n"), "\(text)")
    }
  }

  @Test("The times and the files are checked before a round begins")
  func wrong() async throws {
    let pipe = folder.path("pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    for (options, fault) in [
      (["--within", "0"], "--within takes"), (["--within", "10", "--every", "11"], "--every"),
      (["--files-within", "337"], "--files-within takes"), ([], "key"),
      (["--metrics", pipe], "pipe is a device or a pipe: name a file with --metrics"),
      (["--metrics", folder.path("none/canary.prom").path], "in an existing folder"),
    ] {
      let run = try await run(options)
      #expect(run.status == 2 && run.errors.contains(fault), "\(run)")
      #expect(!FileManager.default.fileExists(atPath: folder.path("canary").path))
    }
  }

  @Test("A file in the place of its folder, and a folder that cannot be made, are told as such")
  func noFolder() async throws {
    try await createKeys()
    try Data("text\n".utf8).write(to: folder.path("canary"))
    let file = try await run()
    #expect(file.status == 2 && file.errors.contains("is a file: name a folder"), "\(file)")
    let inFile = try await run(["--data", folder.path("canary/below").path])
    #expect(inFile.status == 3 && inFile.errors.contains("cannot be created"), "\(inFile)")
  }
}
