import Foundation

/// One call of `detectExposures`, as far as limits are concerned.
struct DetectionCall: Sendable {
  enum Limit: Sendable {
    /// So many calls in 24 hours.
    case calls(Int)
    /// So many files in 24 hours that were not seen before; these are the digests of this call's.
    case newFiles(Set<Data>, Int)
  }

  let time: Date
  let limit: Limit
  /// The map of infectiousness, in API version 2.
  let map: [Int: UInt32]?
  /// Whether the map may change as often as the app likes.
  let changesMapFreely: Bool
}
