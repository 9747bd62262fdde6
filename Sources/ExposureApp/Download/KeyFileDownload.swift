import Foundation
import KeyServerAPI
import Logging

/// Fetches the index and the key files into a folder. Documentation/App.md 3.
struct KeyFileDownload: Sendable {
  let network: any Network
  let keyServer: URL
  let folder: URL
  let settings: KeyDownload
  let logger: Logger

  /// What the index lists, oldest first, without what is no name or lies too far ahead of `now`.
  func index(at now: Date) async throws -> [KeyFileName] {
    let request = NetworkRequest(
      keyServer.appendingPathComponent(KeyServerRoute.index),
      answerBytesMax: KeyFileIndex.bytesMax)
    let answer = try await network.send(request)
    guard answer.status == 200 else { throw CheckFailure(status: answer.status) }
    let index = KeyFileIndex.parse(String(decoding: answer.body, as: UTF8.self))
    let latest = Int64(now.timeIntervalSince1970 + DownloadLimit.futureSecondsMax)
    let names = index.names.filter { $0.endTimestamp <= latest }
    let skipped = index.malformedCount + index.names.count - names.count
    if skipped > 0 {
      logger.notice("skipped lines of the index", metadata: ["lines": "\(skipped)"])
    }
    return names
  }

  /// Those of `names` that lie in the folder now, in the same order: fetched by this or an earlier
  /// run.
  ///
  /// - Throws: where none can be had, since the disk is full or the task is cancelled.
  func obtain(_ names: [KeyFileName]) async throws -> [KeyFileName] {
    try makeFolder()
    removePartial()
    let missing = names.filter { !isPresent($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, name) in missing.enumerated() {
        if index >= DownloadLimit.filesAtOnce { try await group.next() }
        group.addTask { try await fetch(name) }
      }
      try await group.waitForAll()
    }
    return names.filter(isPresent)
  }

  /// Where the file of `name` lies.
  func url(of name: KeyFileName) -> URL { folder.appendingPathComponent(name.text) }

  /// Removes the files of `names`; that one is not there is no error.
  func remove(_ names: [KeyFileName]) {
    for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
  }

  /// Removes every file that `wanted` does not name.
  func removeAll(except wanted: [KeyFileName]) {
    let kept = Set(wanted.map(\.text))
    for name in content() where !kept.contains(name) {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  private static let partialSuffix = ".part"

  /// Fetches one file, again where that can help; a file that does not come is simply not there.
  private func fetch(_ name: KeyFileName) async throws {
    let partial = url(of: name).appendingPathExtension("part")
    defer { try? FileManager.default.removeItem(at: partial) }
    let request = await request(for: name)
    for _ in 0...settings.retryCount {
      do {
        switch try await network.download(request, to: partial).status {
        case 200: return try FileManager.default.moveItem(at: partial, to: url(of: name))
        case 500...: continue
        default: return
        }
      } catch NetworkFailure.diskFull {
        throw CheckFailure.diskFull
      } catch NetworkFailure.tooLarge {
        // It will be as large the next time, and a mobile network is paid by the byte.
        return logger.notice("a key file is too large")
      } catch let failure as NetworkFailure {
        logger.info("a key file did not come", metadata: ["why": "\(failure.rawValue)"])
      }
      try Task.checkCancellation()
    }
  }

  private func request(for name: KeyFileName) async -> NetworkRequest {
    let seconds =
      await network.connection == .wifi
      ? settings.timeoutWifiSeconds : settings.timeoutMobileSeconds
    return NetworkRequest(
      keyServer.appendingPathComponent(KeyServerRoute.keyFile(name)),
      timeoutSeconds: Double(seconds), answerBytesMax: DownloadLimit.fileBytesMax)
  }

  private func isPresent(_ name: KeyFileName) -> Bool {
    FileManager.default.fileExists(atPath: url(of: name).path)
  }

  private func makeFolder() throws {
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CheckFailure.diskFull
    }
  }

  /// What a run that was killed left half-fetched.
  private func removePartial() {
    for name in content() where name.hasSuffix(Self.partialSuffix) {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  private func content() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }
}
