import Foundation
import KeyServerAPI
import Logging

/// Downloads the index and the key files into a folder.
struct KeyFileDownload: Sendable {
  let network: any Network
  let keyServer: URL
  let folder: URL
  let settings: KeyDownload
  let logger: Logger

  /// The names in the index, oldest first, without malformed names and those too far in the future.
  func index(at now: Date) async throws -> [KeyFileName] {
    let request = NetworkRequest(
      keyServer.appendingPathComponent(KeyServerRoute.index),
      responseBytesMax: KeyFileIndex.bytesMax)
    let response = try await network.send(request)
    guard response.status == 200 else { throw CheckFailure(status: response.status) }
    let index = KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self))
    let latest = Int64(now.timeIntervalSince1970 + DownloadLimit.futureSecondsMax)
    let names = index.names.filter { $0.endTimestamp <= latest }
    let skipped = index.malformedCount + index.names.count - names.count
    if skipped > 0 {
      logger.notice("skipped invalid lines of the index", metadata: ["lines": "\(skipped)"])
    }
    return names
  }

  /// Downloads the missing files and returns those of `names` that are in the folder, in the same order.
  ///
  /// - Throws: If the disk is full or the task is cancelled.
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

  func url(of name: KeyFileName) -> URL { folder.appendingPathComponent(name.text) }

  /// Removes files; missing files are ignored.
  func remove(_ names: [KeyFileName]) {
    for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
  }

  /// Removes all other files from the folder.
  func removeAll(except pending: [KeyFileName]) {
    let kept = Set(pending.map(\.text))
    for name in content() where !kept.contains(name) {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  private static let partialSuffix = ".part"

  /// Downloads one file with retries. A failed download leaves no file and is not an error.
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
        // A retry would download as much again, possibly over a mobile network.
        return logger.notice("a key file is too large")
      } catch let failure as NetworkFailure {
        logger.info("downloading a key file failed", metadata: ["reason": "\(failure.rawValue)"])
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
      timeoutSeconds: Double(seconds), responseBytesMax: DownloadLimit.fileBytesMax)
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

  /// Removes partial files of a killed process.
  private func removePartial() {
    for name in content() where name.hasSuffix(Self.partialSuffix) {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  private func content() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }
}

/// Limits of downloads.
public enum DownloadLimit {
  /// The number of concurrent downloads.
  public static let filesAtOnce = 4
  /// The maximum number of files in one check; two weeks have 84. The others wait for the next check.
  public static let filesPerRun = 100
  /// The maximum size of a key file, in bytes.
  public static let fileBytesMax = 16 << 20
  /// The maximum end time of a file, in seconds from now. File names are not signed; one from the far
  /// future would move the cursor past all real files.
  public static let futureSecondsMax: TimeInterval = 86_400
}
