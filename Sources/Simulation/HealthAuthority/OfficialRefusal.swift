/// The verification server issues no PIN to whoever asked.
public struct OfficialRefusal: Error, CustomStringConvertible {
  /// The HTTP status it answered with.
  public let status: Int

  public var description: String { "The verification server issued no PIN (status \(status))." }
}
