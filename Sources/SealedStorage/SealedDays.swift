import Foundation
import World

/// One encrypted file for each day, each replaced atomically.
///
/// Damage to one file costs that day only, and removing a day removes its file. A day is a number that
/// the owner chooses (here days since 1970 in UTC). A file that was given the name of another day cannot be
/// decrypted.
public struct SealedDays: Sendable {
  private let folder: URL
  private let key: SealingKey
  private let purpose: String
  private let randomness: any Randomness

  /// The files in `folder`, encrypted by `key` for `purpose`. Nothing is read or created yet.
  public init(folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.folder = folder
    self.key = key
    self.purpose = purpose
    self.randomness = randomness
  }

  /// The days that have a file, oldest first.
  ///
  /// - Throws: `.disk` if the folder cannot be read.
  public func days() throws(SealedStorageError) -> [UInt32] {
    try days(endingWith: Self.suffix).sorted()
  }

  /// The content of `day`, or nil if it has no file. Throws like `SealedFile.read`.
  public func read(_ day: UInt32) throws(SealedStorageError) -> Data? {
    try file(of: day).read()
  }

  /// Replaces the content of `day`. If this throws, the old content is unchanged.
  public func replace(_ day: UInt32, with content: Data) throws(SealedStorageError) {
    try file(of: day).replace(with: content)
  }

  /// Renames the damaged file of `day` to `<day>.sealed.damaged`, so that a new one can be written.
  public func setAside(_ day: UInt32) throws(SealedStorageError) {
    try file(of: day).setAside()
  }

  /// Removes the days for which `isRemoved` is true, with their damaged files.
  ///
  /// - Throws: `.disk` if the folder cannot be read or a file cannot be removed.
  public func removeDays(
    where isRemoved: (UInt32) -> Bool
  ) throws(SealedStorageError) {
    let damaged = try days(endingWith: Self.suffix + ".damaged")
    for day in Set(try days() + damaged).sorted() where isRemoved(day) {
      try file(of: day).remove()
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
  }

  private static let suffix = ".sealed"

  private func days(endingWith suffix: String) throws(SealedStorageError) -> [UInt32] {
    try Disk.names(in: folder).compactMap { name in
      name.hasSuffix(suffix) ? UInt32(name.dropLast(suffix.count)) : nil
    }
  }

  private func file(of day: UInt32) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent("\(day)\(Self.suffix)"), key: key, purpose: purpose,
      randomness: randomness)
  }
}
