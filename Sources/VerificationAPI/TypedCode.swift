// SPDX-License-Identifier: Apache-2.0
/// The text of a code as users type it, with spaces and hyphens.
///
/// It works on bytes and makes no string, so that a phone can overwrite the code after use.
enum TypedCode {
  /// The bytes of `typed`, UTF-8, without white space and hyphens of any kind. Cyrillic letters that look like
  /// Latin ones are those, in upper case.
  static func plain(_ typed: some Collection<UInt8>) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(typed.count)
    var rest = typed[...]
    while let first = rest.first {
      if let ignored = ignored.first(where: { rest.starts(with: $0) }) {
        rest = rest.dropFirst(ignored.count)
      } else if let letter = lookAlikes.first(where: { rest.starts(with: $0.cyrillic) }) {
        plain.append(letter.latin)
        rest = rest.dropFirst(letter.cyrillic.count)
      } else {
        plain.append(first)
        rest = rest.dropFirst()
      }
    }
    return plain
  }

  private static let ignored = """
    \u{20}\u{9}\u{A}\u{D}\u{A0}\u{2009}\u{202F}-\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}
    """.unicodeScalars.map { Array(String($0).utf8) }

  private static let lookAlikes = zip(
    "\u{410}\u{412}\u{415}\u{406}\u{41A}\u{41C}\u{41D}\u{41E}\u{420}\u{421}\u{422}\u{423}\u{425}"
      + "\u{430}\u{432}\u{435}\u{456}\u{43A}\u{43C}\u{43D}\u{43E}\u{440}\u{441}\u{442}\u{443}\u{445}",
    "ABEIKMHOPCTYXABEIKMHOPCTYX".utf8
  ).map { (cyrillic: Array(String($0).utf8), latin: $1) }
}
