// SPDX-License-Identifier: Apache-2.0

/// Suggestions for misspelled names.
package enum Spelling {
  /// The candidate that was probably meant by `word`: it differs in few letters, or `word` is the start of no other.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let word = letters(word)
    let near = candidates.map { (name: $0, distance: distance(word, letters($0))) }
      .filter { $0.distance <= changesMax(in: word) }
      .min { $0.distance < $1.distance }
    if let near { return near.name }
    let longer = candidates.filter { letters($0).starts(with: word) }
    return word.count >= prefixCountMin && longer.count == 1 ? longer.first : nil
  }

  private static let prefixCountMin = 2

  /// The changed letters with which a word of this length is still recognized.
  private static func changesMax(in word: [Character]) -> Int {
    switch word.count {
    case 0...1: 0
    case 2...4: 1
    case 5...8: 2
    default: 3
    }
  }

  /// The letters without the dashes of an option.
  private static func letters(_ word: String) -> [Character] {
    Array(word.drop { $0 == "-" }.lowercased())
  }

  /// The number of inserted, removed, replaced and swapped letters (optimal string alignment).
  package static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var rows = [Array(0...second.count)]
    for (i, letter) in first.enumerated() {
      var row = [i + 1]
      for (j, other) in second.enumerated() {
        var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}
