import Foundation
import World

/// One file that is always encrypted and always replaced whole.
public struct SealedFile: Sendable {
  /// The largest content of a sealed file, in bytes.
  public static let contentBytesMax = 64 << 20

  private let url: URL
  private let seal: Seal

  /// The file at `url`, sealed by `key` for `purpose`. Nothing is read or made yet.
  public init(url: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.url = url
    seal = Seal(key: key, purpose: purpose, randomness: randomness)
  }

  /// The content, or nil where the file was never written.
  ///
  /// - Throws: `.damaged` where the bytes do not open with this key, `.disk` where they cannot be read.
  public func read() throws(SealedStorageError) -> Data? {
    let bytesMax = Self.contentBytesMax + Seal.overhead
    guard let box = try Disk.read(url, bytesMax: bytesMax) else { return nil }
    return try seal.open(box, place: url.lastPathComponent)
  }

  /// Replaces the content; when this returns the new content is on the disk, and when it throws the
  /// old one still is.
  ///
  /// - Throws: `.full` where there is no room, `.tooLarge` past the limit, `.disk` where the disk
  ///   refuses.
  public func replace(with content: Data) throws(SealedStorageError) {
    guard content.count <= Self.contentBytesMax else { throw .tooLarge }
    let box = try seal.seal(content, place: url.lastPathComponent)
    try Disk.makeFolder(url.deletingLastPathComponent())
    try Disk.replace(url, with: box)
  }

  /// Removes the file, and what was set aside or left half-written beside it; that there was nothing
  /// is no error.
  ///
  /// - Throws: `.disk` where the disk refuses.
  public func remove() throws(SealedStorageError) {
    try Disk.removeLeftovers(of: url)
    for url in [aside, url] { try Disk.remove(url) }
  }

  /// Moves a file that does not open out of the way, beside itself, so that a new one can begin and
  /// nothing is thrown away. Returns where it went.
  ///
  /// - Throws: `.disk` where there is no such file or the disk refuses.
  @discardableResult
  public func setAside() throws(SealedStorageError) -> URL {
    try Disk.move(url, to: aside)
    return aside
  }

  private var aside: URL { url.appendingPathExtension("damaged") }
}

/// Why something sealed could not be kept or opened.
public enum SealedStorageError: Error, Equatable, Sendable {
  /// No space is left, or the file would grow past what the system allows: make room, then retry.
  /// What was there before is still there.
  case full
  /// It exceeds a named limit, so retrying does not help: keep less at a time.
  case tooLarge
  /// The bytes were not sealed with this key and purpose, or have been changed since.
  case damaged
  /// The disk refused, with the system's error number.
  case disk(Int32)
}

extension SealedStorageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "The disk is full; make room and try again, nothing was lost."
    case .tooLarge: "This is more than can be kept in one place; keep less at a time."
    case .damaged: "The file does not open; set it aside and begin a new one."
    case .disk(let number): "The disk refused with error \(number); check it and try again."
    }
  }
}
