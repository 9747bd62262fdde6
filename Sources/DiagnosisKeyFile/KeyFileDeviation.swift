// SPDX-License-Identifier: Apache-2.0
/// A deviation from the format that `KeyFileTolerance.published` accepts.
package enum KeyFileDeviation: Hashable, Sendable, CustomStringConvertible {
  /// Bytes before the zip, such as a program that unpacks it.
  case leadingBytes(Int)
  /// A folder in the zip.
  case folder(String)
  /// An entry that is neither the export nor its signatures.
  case otherEntry(String)
  /// The export or its signatures under another name, such as `./export.bin` or `EXPORT.BIN`.
  case otherName(String, of: String)
  /// A comment at the end of the zip, with its size in bytes.
  case comment(Int)
  /// Bytes after the zip, such as a line break that a transfer has added.
  case trailingBytes(Int)

  /// The deviation in a few words. Names come from the file and may contain control characters.
  package var description: String {
    switch self {
    case .leadingBytes(let count): "skipped \(count) bytes before the zip"
    case .folder(let name): "skipped the folder \(name)"
    case .otherEntry(""): "skipped an entry without a name"
    case .otherEntry(let name): "skipped \(name)"
    case .otherName(let name, let usual): "read \(name) as \(usual)"
    case .comment(let count): "skipped a comment of \(count) bytes"
    case .trailingBytes(let count): "skipped \(count) bytes after the zip"
    }
  }
}
