// SPDX-License-Identifier: Apache-2.0

/// A language of pages. The raw value is its code, such as `pl`.
package protocol PageLanguage: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  /// The language for browsers that accept none of ours.
  static var standard: Self { get }
}

extension PageLanguage {
  /// The language that a browser prefers among ours, by its header `Accept-Language` (RFC 9110, 12.5.4).
  ///
  /// The first of equal weights wins. A range with a weight of zero, or without a number, is not accepted.
  package init(accepted header: String?) {
    var best: (language: Self, weight: Double)?
    for item in (header ?? "").split(separator: ",") {
      let parts = item.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
      let primary = parts.first?.split(separator: "-").first.map(String.init) ?? ""
      guard let language = Self(rawValue: primary) else { continue }
      let stated = parts.dropFirst().first { $0.hasPrefix("q=") }
      let weight = stated.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      if weight > best?.weight ?? 0 { best = (language, weight) }
    }
    self = best?.language ?? .standard
  }
}
