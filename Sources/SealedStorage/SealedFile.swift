import Foundation
import World

/// A file that is always encrypted and replaced atomically.
public struct SealedFile: Sendable {
  /// The largest content of a sealed file, in bytes.
  public static let contentBytesMax = 64 << 20

  private let url: URL
  private let seal: Seal

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

  /// Replaces the content. If this throws, the old content is unchanged.
  ///
  /// - Throws: `.full` if no space is left, `.tooLarge` beyond the limit, `.disk` for another error.
  public func replace(with content: Data) throws(SealedStorageError) {
    guard content.count <= Self.contentBytesMax else { throw .tooLarge }
    let box = try seal.seal(content, location: url.lastPathComponent)
    try Disk.makeFolder(url.deletingLastPathComponent())
    try Disk.replace(url, with: box)
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
  /// At every moment the damaged or the new file has the name; if this throws, the old file has it.
  public func setAside(replacingWith content: Data) throws(SealedStorageError) {
    try Disk.link(url, as: aside)
    try replace(with: content)
  }

  /// The location of a damaged file that was set aside.
  package var aside: URL { url.appendingPathExtension("damaged") }
}

/// The reason why data could not be stored or decrypted.
public enum SealedStorageError: Error, Equatable, Sendable {
  /// No space is left, or the file would exceed the limits of the system. Existing content is unchanged.
  case full
  /// The data exceeds a limit, so a retry does not help.
  case tooLarge
  /// The bytes were not encrypted with this key and purpose, or were changed.
  case damaged
  /// Another error of the system; the value is `errno`.
  case disk(Int32)
}

extension SealedStorageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "The disk is full: free some space and try again; existing data is unchanged."
    case .tooLarge: "The data exceeds the limit of a file: store less at once."
    case .damaged: "The file cannot be decrypted: set it aside and begin a new one."
    case .disk(let number):
      """
      The system reported "\(String(cString: strerror(number)))" (\(number)): check the folder's owner, its \
      mode and the disk, and try again.
      """
    }
  }
}
