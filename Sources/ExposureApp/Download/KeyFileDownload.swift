// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import World

/// Downloads the index and the key files into a folder.
struct KeyFileDownload: Sendable {
  let network: any Network
  let keyServer: URL
  let folder: URL
  let settings: KeyDownload
  let logger: Logger

  /// The index, without malformed names and those too far in the future; `nil` if its version is `version`.
  ///
  /// - Parameter accept: Called with the response if the index has a name, or its version is `version`. An empty index
  ///   may be the empty response of a network in between.
  /// - Throws: `CheckFailure.portal` if the response is a page, such as the sign-in page of a network;
  ///   `.invalidIndex` if it has no valid line.
  func index(
    since version: ResponseVersion?, at now: Date,
    accept: (NetworkResponse) async -> Void = { _ in }
  ) async throws -> ListedFiles? {
    let request = NetworkRequest(
      keyServer.appendingPathComponent(KeyServerRoute.index), headers: version?.headers ?? [:],
      responseBytesMax: KeyFileIndex.bytesMax)
    let response = try await network.send(request)
    if response.status == 304, version != nil {
      await accept(response)
      return nil
    }
    guard response.status == 200 else { throw CheckFailure(status: response.status) }
    guard !response.isPage else { throw CheckFailure.portal }
    let index = KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self))
    guard !index.names.isEmpty || index.malformedCount == 0 else { throw CheckFailure.invalidIndex }
    if !index.names.isEmpty { await accept(response) }
    let latest = now.addingTimeInterval(DownloadLimit.futureSecondsMax).unixSecond
    let names = index.names.filter { $0.endTimestamp <= latest }
    let future = index.names.count - names.count
    if index.malformedCount + future > 0 {
      logger.notice(
        "skipped invalid lines of the index",
        metadata: ["lines": "\(index.malformedCount + future)"])
    }
    // The phone's clock or the transfer may have been wrong: the same index must be read again.
    let isWhole = index.malformedCount + future == 0
    return ListedFiles(
      names: names, version: isWhole ? response.version : nil, hasFutureNames: future > 0)
  }

  /// Returns the roll-ups that the server lists, by their folder; none if it has no roll-ups, or does not respond.
  ///
  /// - Throws: If the task is cancelled.
  func rollUps() async throws -> [String: [KeyFileName]] {
    var listed: [String: [KeyFileName]] = [:]
    for hours in KeyServerRoute.rollUpHours.sorted(by: >) {
      let root = KeyServerRoute.rollUpRoot(hours: hours)
      let request = NetworkRequest(
        keyServer.appendingPathComponent(KeyServerRoute.index(of: root)),
        responseBytesMax: KeyFileIndex.bytesMax)
      do {
        let response = try await network.send(request)
        guard response.status == 200, !response.isPage else { return listed }
        let text = String(decoding: response.body, as: UTF8.self)
        listed[root] = KeyFileIndex.parse(text.replacing("\(root)/", with: "")).names
      } catch {
        try Task.checkCancellation()
        // The files that roll-ups would cover are downloaded.
        return listed
      }
    }
    return listed
  }

  /// Downloads the missing files and returns those of `names` that are in the folder, in the same order.
  ///
  /// - Parameters:
  ///   - names: The files.
  ///   - roots: The folders on the server of the files that are not in the main one.
  /// - Throws: If the files cannot be written or the task is cancelled.
  func obtain(
    _ names: [KeyFileName], roots: [KeyFileName: String] = [:]
  ) async throws -> [KeyFileName] {
    guard !names.isEmpty else { return [] }
    try makeFolder()
    removePartial()
    let missing = names.filter { !isPresent($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, name) in missing.enumerated() {
        if index >= DownloadLimit.filesAtOnce { try await group.next() }
        group.addTask { try await fetch(name, of: roots[name] ?? "") }
      }
      try await group.waitForAll()
    }
    return names.filter(isPresent)
  }

  func url(of name: KeyFileName) -> URL {
    folder.appendingPathComponent(name.text, isDirectory: false)
  }

  /// Removes files; missing files are ignored.
  func remove(_ names: [KeyFileName]) {
    for name in names { FileManager.default.removeUnneeded(url(of: name)) }
  }

  /// Removes all other files from the folder.
  func removeAll(except pending: [KeyFileName]) {
    let kept = Set(pending.map(\.text))
    for name in content() where !kept.contains(name) {
      FileManager.default.removeUnneeded(folder.appendingPathComponent(name))
    }
  }

  private static let partialSuffix = ".part"

  /// Downloads one file. A failed download leaves no file and is not an error.
  private func fetch(_ name: KeyFileName, of root: String) async throws {
    let partial = url(of: name).appendingPathExtension("part")
    defer { FileManager.default.removeUnneeded(partial) }
    let request = await request(for: name, of: root)
    do {
      guard try await network.download(request, to: partial).status == 200 else { return }
      try AtomicFile.publish(partial, as: url(of: name))
    } catch let failure as NetworkFailure {
      if failure.isOfDisk { throw failure }
      logger.info("downloading a key file failed", metadata: ["reason": "\(failure.rawValue)"])
    } catch let failure as CheckFailure {
      logger.info("downloading a key file failed", metadata: ["reason": "\(failure.rawValue)"])
    } catch let error as FileError { throw NetworkFailure(code: error.code) }
  }

  private func request(for name: KeyFileName, of root: String) async -> NetworkRequest {
    let seconds =
      await network.connection == .wifi
      ? settings.timeoutWifiSeconds : settings.timeoutMobileSeconds
    return NetworkRequest(
      keyServer.appendingPathComponent(KeyServerRoute.keyFile(name.text, of: root)),
      timeoutSeconds: Double(seconds), responseBytesMax: DownloadLimit.fileBytesMax)
  }

  private func isPresent(_ name: KeyFileName) -> Bool {
    FileManager.default.fileExists(atPath: url(of: name).path)
  }

  private func makeFolder() throws(NetworkFailure) {
    do throws(FileError) {
      try AtomicFile.makeFolder(folder)
    } catch {
      throw NetworkFailure(code: error.code)
    }
  }

  /// Removes partial files of a killed process.
  private func removePartial() {
    for name in content() where name.hasSuffix(Self.partialSuffix) {
      FileManager.default.removeUnneeded(folder.appendingPathComponent(name))
    }
  }

  private func content() -> [String] { FileManager.default.names(in: folder) }
}

/// The content of an index.
struct ListedFiles: Sendable {
  let names: [KeyFileName]
  /// The version for a conditional request; `nil` if the whole index must be read again.
  let version: ResponseVersion?
  /// True if a name ends more than a day in the future.
  let hasFutureNames: Bool
}

/// Limits of downloads.
public enum DownloadLimit {
  /// The number of concurrent downloads.
  public static let filesAtOnce = 4
  /// The maximum number of files in one check; two weeks have 84. The others wait for the next check.
  public static let filesPerRun = 100
  /// The maximum number of files that an index can make wanted.
  public static let wantedMax = 1_000
  /// The number of wanted files from which on a phone looks for roll-ups: more than those of a day.
  public static let rollUpsFrom = 7
  /// The number of checks in which a roll-up may be missing before the files that it covers are downloaded.
  static let rollUpFailuresMax = 2
  /// The number of files of one period; each ends a second after the one before.
  static let filesPerPeriodMax: Int64 = 60
  /// The maximum size of a key file, in bytes.
  public static let fileBytesMax = 16 << 20
  /// The maximum end time of a file, in seconds from now. File names are not signed; one from the far
  /// future would move the cursor past all real files.
  public static let futureSecondsMax: TimeInterval = 86_400
}
