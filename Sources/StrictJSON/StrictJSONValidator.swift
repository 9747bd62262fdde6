import Foundation

/// Rejects JSON that decoders read differently or without a limit.
///
/// `JSONDecoder` silently picks one of two fields with the same name, guesses the encoding and nests
/// without a limit that we control. Check the bytes here before decoding them.
public enum StrictJSONValidator {
  /// The number of objects and arrays that may be nested in one another.
  public static let depthMax = 16

  /// Returns `true` if `json` is one JSON value in UTF-8 without a byte order mark (RFC 8259, section
  /// 8.1), no object has a field twice, and it nests at most `depthMax` deep.
  public static func accepts(_ json: Data) -> Bool {
    var cursor = JSONCursor(Array(json))
    do {
      try cursor.skipValue(depth: depthMax)
      try cursor.end()
      return true
    } catch {
      return false
    }
  }
}
