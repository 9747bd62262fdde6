// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import ObjectStore
import QuietHTTP
import World

/// The object store in which phones find the key files and indexes. The export folder is a copy of it, from which a
/// server responds as well.
///
/// An object gets its name once, with the bytes whose hash is in the database: a file that is written again has another
/// edition. An index is written after all files that it names were read back, and files are removed after an index
/// without them was.
struct PublishedObjects: Sendable {
  private let bucket: S3Bucket
  private let folder: ExportFolder

  init(_ store: KeyFileStore, folder: ExportFolder, clock: any WallClock) {
    self.init(
      S3Bucket(
        store.location, credentials: store.credentials, client: .withoutRedirects, clock: clock),
      folder: folder)
  }

  init(_ bucket: S3Bucket, folder: ExportFolder) {
    self.bucket = bucket
    self.folder = folder
  }

  /// The sizes of all objects in bytes, by the lines that indexes have for them.
  func sizes() async throws(KeyServerError) -> [String: Int] {
    do { return try await bucket.sizes() } catch { throw KeyServerError(error) }
  }

  /// Writes the files of `batches` that the folder does not have from the store, where another process has put them.
  /// The exporter writes files that are missing there or differ from the hash in the database.
  ///
  /// - Parameter stored: The sizes of all objects.
  func fetch(
    _ batches: [Batch], of root: String, stored: [String: Int]
  ) async throws {
    for batch in batches {
      guard let name = batch.name, let sha256 = batch.sha256, !folder.hasFile(name, of: root),
        stored[KeyFileIndex.line(name, under: root)] != nil,
        let content = try await content(of: KeyFileIndex.line(name, under: root)),
        Data(SHA256.hash(data: content)) == sha256
      else { continue }
      // Readable by everyone: another user's web server may serve the folder.
      try AtomicFile.write(content, to: folder.file(name, of: root), permissions: 0o644)
    }
  }

  /// The content of a file; nil if it is missing or larger than a key file.
  private func content(of line: String) async throws(KeyServerError) -> Data? {
    do {
      return try await bucket.get(line, bytesMax: KeyFileLimit.fileByteCountMax)?.content
    } catch .tooLarge {
      return nil
    } catch { throw KeyServerError(error) }
  }

  /// Stores the files that the store does not have in their size, and reads each back.
  ///
  /// - Parameters:
  ///   - names: The files, which are in the folder.
  ///   - root: The export.
  ///   - stored: The sizes of all objects.
  ///   - confirm: Called before each file; throws if another process exports by now.
  func put(
    _ names: [KeyFileName], of root: String, stored: [String: Int],
    confirm: @Sendable () async throws -> Void
  ) async throws {
    for name in names {
      let line = KeyFileIndex.line(name, under: root)
      let content = try Data(contentsOf: folder.file(name, of: root))
      guard stored[line] != content.count else { continue }
      try await confirm()
      do {
        // A store that has truncated the file has another size: it is written in any case.
        try await bucket.put(
          content, as: line, type: "application/zip", cacheControl: CacheControl.keyFile,
          if: stored[line] == nil ? .isNew : .always)
      } catch { throw KeyServerError(error) }
    }
  }

  /// Writes an index if its content changes. The files that it names were stored before.
  ///
  /// - Throws: `KeyServerError.fileStore`, also if another process has replaced the index meanwhile.
  func replaceIndex(_ names: [KeyFileName], of root: String) async throws(KeyServerError) {
    let text = Data(KeyFileIndex.render(names, under: root).utf8)
    do {
      let present = try await bucket.get(Self.index(of: root), bytesMax: KeyFileIndex.bytesMax)
      guard present?.content != text else { return }
      let condition: S3Bucket.Condition =
        if let present { present.tag.map { .replaces($0) } ?? .always } else { .isNew }
      try await bucket.put(
        text, as: Self.index(of: root), type: "text/plain; charset=us-ascii",
        cacheControl: CacheControl.index, if: condition)
    } catch { throw KeyServerError(error) }
  }

  /// Removes the key files of an export that are not in `names`.
  ///
  /// - Parameter stored: The sizes of all objects, which may have been read earlier.
  func removeAll(
    but names: Set<KeyFileName>, of root: String, stored: [String: Int]
  ) async throws(KeyServerError) {
    for line in stored.keys.sorted() {
      let parts = line.split(separator: "/", omittingEmptySubsequences: false)
      guard let name = parts.last.flatMap({ KeyFileName($0) }), !names.contains(name),
        parts.dropLast().joined(separator: "/") == root
      else { continue }
      do { try await bucket.remove(line) } catch { throw KeyServerError(error) }
    }
  }

  /// True if another process has replaced the index of an export. False if the store does not respond: the next export
  /// reports that.
  func hasOtherIndex(of root: String) async -> Bool {
    guard
      // The next export reports the error.
      let present = try? await bucket.get(Self.index(of: root), bytesMax: KeyFileIndex.bytesMax)
    else { return false }
    // An index that cannot be read is written again.
    return present.content != (try? folder.index(of: root))
  }

  private static func index(of root: String) -> String {
    String(KeyServerRoute.index(of: root).dropFirst())
  }
}

/// An object store for key files with its credentials.
package struct KeyFileStore: Sendable {
  package let location: S3Location
  let credentials: S3Credentials

  package init(location: S3Location, credentials: S3Credentials) {
    self.location = location
    self.credentials = credentials
  }
}

extension KeyServerError {
  fileprivate init(_ error: ObjectStoreError) { self = .fileStore(error.description) }
}
