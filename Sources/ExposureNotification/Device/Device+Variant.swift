extension Device {
  /// Whose rules the phone follows where Apple changed them from release to release.
  ///
  /// Documentation/Framework.md 7.
  public enum Variant: Sendable, CaseIterable {
    /// iOS 13.5: files are counted instead of calls, durations go up in steps of five minutes, keys
    /// of less than a day are passed over. API version 1 only.
    case ios13_5
    /// iOS 13.6: calls are counted, durations go up in steps of a minute. API version 1 only.
    case ios13_6
    /// iOS 14 and later: both API versions, pre-authorised keys, travel.
    case ios14

    /// What a phone follows unless told otherwise.
    public static let latest = Variant.ios14
  }
}

extension Device.Variant {
  /// API versions that this release knows.
  var apiVersions: ClosedRange<Int> { self == .ios14 ? 1...2 : 1...1 }

  /// The step, in minutes, up to which the duration of an exposure is rounded.
  var durationStep: Int { self == .ios13_5 ? 5 : 1 }

  /// True if this release ignores keys that were used for less than a day.
  var requiresFullDayKeys: Bool { self == .ios13_5 }
}
