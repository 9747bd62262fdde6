extension StoredKey {
  /// The columns that a key is inserted with, in the order `bind` gives their values.
  static let columns = """
    key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
    regions, travels, released_at, is_padding
    """
  /// How many they are.
  static let columnCount: Int32 = 10

  /// Binds the values of its columns by `binding` from the parameter `first` on. What is nil stays unbound,
  /// which is null.
  ///
  /// - Returns: Whether there was memory for all of them.
  func bind(by binding: RawBinding, from first: Int32) -> Bool {
    withUnsafeBytes(of: words) { binding.binds($0, at: first) }
      && binding.binds(rollingStart, at: first + 1) && binding.binds(rollingPeriod, at: first + 2)
      && binding.binds(transmissionRisk, at: first + 3) && binding.binds(reportType, at: first + 4)
      && binding.binds(daysSinceOnset, at: first + 5) && binding.binds(regions, at: first + 6)
      && binding.binds(travels ? 1 : 0, at: first + 7) && binding.binds(releasedAt, at: first + 8)
      && binding.binds(isPadding ? 1 : 0, at: first + 9)
  }
}
