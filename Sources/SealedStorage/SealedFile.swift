// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// A file that is always encrypted and replaced atomically.
public struct SealedFile: Sendable {
  /// The largest content of a sealed file, in bytes.
  public static let contentBytesMax = 64 << 20

  fileprivate let url: URL
  private let seal: Seal
  private let place = PreparedPlace()

  /// The file at `url`, encrypted by `key` for `purpose`. Nothing is read or created yet.
  public init(url: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.url = url
    seal = Seal(key: key, purpose: purpose, randomness: randomness)
  }

  /// The content, or nil if the file does not exist.
  ///
  /// - Throws: `.damaged` if the bytes cannot be decrypted with this key or are more than a file holds,
  ///   `.disk` if they cannot be read.
  public func read() throws(SealedStorageError) -> Data? {
    let box: Data?
    do throws(SealedStorageError) {
      box = try Disk.read(url, bytesMax: Self.contentBytesMax + Seal.overhead)
    } catch {
      // `replace` never writes a file of this size.
      throw error == .tooLarge ? .damaged : error
    }
    return if let box { try seal.open(box, location: url.lastPathComponent) } else { nil }
  }

  /// Replaces the content. If this throws, the old content is unchanged, except if only the folder could not be synced.
  ///
  /// - Throws: `.full` if no space is left, `.tooLarge` beyond the limit, `.disk` for another error.
  public func replace(with content: Data) throws(SealedStorageError) {
    try replace(with: content, durability: .synced)
  }

  /// The same for content that may be lost in a power failure.
  func replace(
    with content: Data, durability: AtomicFile.Durability
  ) throws(SealedStorageError) {
    guard content.count <= Self.contentBytesMax else { throw .tooLarge }
    let box = try seal.seal(content, location: url.lastPathComponent)
    try place.write(in: url.deletingLastPathComponent()) { isFirst throws(SealedStorageError) in
      // First, so that on a full disk the space of the leftover is available.
      if isFirst { try Disk.removeLeftovers(of: url) }
      try Disk.replace(url, with: box, durability: durability)
    }
  }

  /// Removes the file, a damaged file that was set aside, and the leftovers of interrupted writes. It is
  /// not an error if there are none.
  ///
  /// - Throws: `.disk` if the system reports an error.
  public func remove() throws(SealedStorageError) {
    try Disk.removeLeftovers(of: url)
    for url in [aside, url] { try Disk.remove(url) }
  }

  /// Renames a damaged file, so that a new one can be written and nothing is lost.
  ///
  /// - Returns: The new location.
  /// - Throws: `.disk` if there is no such file or the system reports an error.
  @discardableResult
  public func setAside() throws(SealedStorageError) -> URL {
    try Disk.move(url, to: aside)
    return aside
  }

  /// Renames a damaged file as `setAside()` does and writes `content` in its place.
  ///
  /// At every moment the damaged or the new file has the name. If this throws, the damaged one has it, except if only
  /// the folder could not be synced.
  public func setAside(replacingWith content: Data) throws(SealedStorageError) {
    try Disk.link(url, as: aside)
    try replace(with: content)
  }

  /// The location of a damaged file that was set aside.
  package var aside: URL { url.appendingPathExtension("damaged") }
}

/// The folder of a file, which is created before the first write of this process.
///
/// A phone writes a file several times an hour, and each look into its folder takes as long as the write.
final class PreparedPlace: Sendable {
  private let isPrepared = Atomic(false)

  /// Calls `write`, with true if it is the first time.
  func write(
    in folder: URL, _ write: (_ isFirst: Bool) throws(SealedStorageError) -> Void
  ) throws(SealedStorageError) {
    if isPrepared.load(ordering: .relaxed) {
      do throws(SealedStorageError) {
        return try write(false)
      } catch {
        // Others may have removed the folder.
        guard error == .disk(ENOENT) else { throw error }
      }
    }
    try Disk.makeFolder(folder)
    try write(true)
    isPrepared.store(true, ordering: .relaxed)
  }
}

/// One encrypted file for each day, each replaced atomically.
///
/// Damage to one file costs that day only, and removing a day removes its file. A day is a number that
/// the owner chooses (here days since 1970 in UTC). A file that was given the name of another day cannot be
/// decrypted. The sizes of all files are sealed in `<folder>.sizes`, so that a file that was removed is detected.
public struct SealedDays: Sendable {
  private let folder: URL
  private let key: SealingKey
  private let purpose: String
  private let randomness: any Randomness
  private let sizes: SealedSizes

  /// The files in `folder`, encrypted by `key` for `purpose`. Nothing is read or created yet.
  public init(folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.folder = folder
    self.key = key
    self.purpose = purpose
    self.randomness = randomness
    sizes = SealedSizes(of: folder, key: key, purpose: purpose, randomness: randomness)
  }

  /// The days that have a file, and those whose file was removed by others, oldest first.
  ///
  /// - Throws: `.disk` if the folder cannot be read.
  public func days() throws(SealedStorageError) -> [UInt32] {
    Set(try days(endingWith: Self.suffix)).union(try recordedSizes().keys).sorted()
  }

  /// The content of `day`, or nil if it has no file. Throws like `SealedFile.read`, and `.damaged` for a file that
  /// was removed by others or replaced by a shorter one.
  public func read(_ day: UInt32) throws(SealedStorageError) -> Data? {
    let content = try file(of: day).read()
    guard let entry = try recordedSizes()[day] else { return content }
    guard let content, content.count >= entry.bytes else { throw .damaged }
    return content
  }

  /// Replaces the content of `day`. Throws like `SealedFile.replace`.
  public func replace(_ day: UInt32, with content: Data) throws(SealedStorageError) {
    let recorded = try recordedSizes()[day]?.bytes ?? 0
    // After a kill between the two writes, the file must not be shorter than its size.
    if content.count < recorded { try record(content.count, of: day) }
    try file(of: day).replace(with: content)
    if content.count >= recorded { try record(content.count, of: day) }
  }

  /// Renames the damaged file of `day` to `<day>.sealed.damaged`, so that a new one can be written. A file that was
  /// removed by others is forgotten.
  public func setAside(_ day: UInt32) throws(SealedStorageError) {
    let file = file(of: day)
    if try Disk.exists(file.url) { try file.setAside() }
    try record(nil, of: day)
  }

  /// Restores a damaged record of the sizes from the files.
  ///
  /// - Returns: `true` if it was damaged, so that files may have been lost.
  /// - Throws: Like `SealedFile.replace`.
  public func restoreSizes() throws(SealedStorageError) -> Bool {
    do throws(SealedStorageError) {
      _ = try sizes.read()
      return false
    } catch {
      guard error == .damaged else { throw error }
    }
    try sizes.replace(with: try sizesOfFiles())
    return true
  }

  /// Removes the days for which `isRemoved` is true, with their damaged files.
  ///
  /// - Throws: `.disk` if the folder cannot be read or a file cannot be removed.
  public func removeDays(
    where isRemoved: (UInt32) -> Bool
  ) throws(SealedStorageError) {
    let damaged = try days(endingWith: Self.suffix + ".damaged")
    let removed = Set(try days() + damaged).filter(isRemoved).sorted()
    let isRecorded = recordRemoval(of: removed)
    for day in removed { try file(of: day).remove() }
    // The removal has freed space.
    if !isRecorded { for day in removed { try record(nil, of: day) } }
  }

  /// Removes the sizes of `days`, as far as they are recorded. Returns `false` if a full disk or another failure
  /// prevents it; the files are removed all the same.
  private func recordRemoval(of days: [UInt32]) -> Bool {
    do {
      for day in days { try record(nil, of: day) }
      return true
    } catch {
      return false
    }
  }

  /// Removes every day, and the leftovers of interrupted writes.
  ///
  /// - Throws: `.disk` if the folder cannot be read or a file cannot be removed.
  public func removeAll() throws(SealedStorageError) {
    try removeDays { _ in true }
    for name in try Disk.names(in: folder) where AtomicFile.isTemporary(name) {
      try Disk.remove(folder.appendingPathComponent(name))
    }
    try sizes.remove()
  }

  private static let suffix = ".sealed"

  private func days(endingWith suffix: String) throws(SealedStorageError) -> [UInt32] {
    try Disk.names(in: folder).compactMap { name in
      name.hasSuffix(suffix) ? UInt32(name.dropLast(suffix.count)) : nil
    }
  }

  private func file(of day: UInt32) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent("\(day)\(Self.suffix)", isDirectory: false), key: key,
      purpose: purpose, randomness: randomness)
  }
}

// The sizes of the files.
extension SealedDays {
  /// The recorded sizes. Without a record, or with a damaged one, the files are taken as they are.
  private func recordedSizes() throws(SealedStorageError) -> [UInt32: SealedSizes.Entry] {
    do throws(SealedStorageError) {
      if let recorded = try sizes.read() { return recorded }
    } catch {
      guard error == .damaged else { throw error }
    }
    return try sizesOfFiles()
  }

  private func sizesOfFiles() throws(SealedStorageError) -> [UInt32: SealedSizes.Entry] {
    var entries: [UInt32: SealedSizes.Entry] = [:]
    for day in try days(endingWith: Self.suffix) {
      let box = try Disk.size(of: file(of: day).url)
      entries[day] = SealedSizes.Entry(bytes: max(0, box - Seal.overhead))
    }
    return entries
  }

  /// Records the size of the content of `day`; nil removes the day from the record.
  private func record(_ bytes: Int?, of day: UInt32) throws(SealedStorageError) {
    var entries = try recordedSizes()
    entries[day] = bytes.map { SealedSizes.Entry(bytes: $0) }
    if try sizes.differ(from: entries) { try sizes.replace(with: entries) }
  }
}
