/// Which way a key and what was heard are brought together. Both give the same matches.
package enum MatchDirection: Sendable, CaseIterable {
  /// Whichever is faster for the day (Documentation/Matching.md 3).
  case automatic
  /// The key's identifiers are derived and looked for among those heard.
  case forward
  /// Each identifier heard is decrypted with the key and looked at.
  case reverse
}
