// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Contacts that sensors have recorded, which are repeated when the recording ends.
///
/// Each line is `time,person,person,distance`: the end of a step in seconds from 0:00 of the first day, two names, and
/// metres. A header line with these words may come first. Without the fourth field, the distance is the one that the
/// scenario states. Spaces and tabs separate fields as well, so that the files of SocioPatterns are read unchanged.
/// Fields may have quotation marks (RFC 4180).
public struct RecordedContacts: ContactSource {
  public let population: Population
  /// The recorded days.
  public let dayCount: Int
  private let days: [[Encounter]]

  /// The largest number of lines.
  public static let linesMax = 5_000_000
  /// The largest number of days.
  public static let daysMax = 366
  private static let daySeconds = 86_400
  /// Spreadsheets write it before the text.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// The first bytes of gzip and zip files, the forms in which SocioPatterns publishes recordings.
  private static let compressionMarks: [[UInt8]] = [[0x1F, 0x8B], [0x50, 0x4B, 0x03, 0x04]]

  /// Reads a recording in UTF-8.
  ///
  /// - Parameters:
  ///   - content: The bytes of the file.
  ///   - step: The seconds that each line stands for.
  ///   - metres: The distance of lines without one.
  /// - Throws: `RecordedContactsError` with the number of the line.
  public init(content: Data, step: Int, metres: Double) throws(RecordedContactsError) {
    guard !Self.compressionMarks.contains(where: content.starts(with:)) else { throw .compressed }
    var reading = RecordedLines(step: step, metres: metres)
    var number = 0
    let start = content.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    let bytes = [UInt8](content)[start...]
    for line in bytes.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 10 }) {
      number += 1
      guard number <= Self.linesMax else { throw .tooMany(Self.linesMax) }
      try reading.read(line, number: number)
    }
    guard !reading.rows.isEmpty else { throw .empty }
    population = Population(names: reading.names)
    days = Self.days(of: reading.rows, step: step)
    dayCount = days.count
  }

  public func encounters(onDay day: Int) -> [Encounter] { days[day % days.count] }

  /// Joins the steps of each pair that follow one another at the same distance.
  private static func days(of rows: [RecordedLines.Row], step: Int) -> [[Encounter]] {
    let sorted = rows.sorted {
      ($0.first, $0.second, $0.end, $0.metres) < ($1.first, $1.second, $1.end, $1.metres)
    }
    var days = [[Encounter]](
      repeating: [], count: ((rows.map(\.end).max() ?? 1) - 1) / daySeconds + 1)
    var index = 0
    while index < sorted.count {
      let row = sorted[index]
      var end = row.end
      index += 1
      while index < sorted.count, sorted[index].isSamePair(as: row),
        sorted[index].metres == row.metres, sorted[index].end <= end + step,
        (sorted[index].end - 1) / daySeconds == (row.end - 1) / daySeconds
      {
        end = sorted[index].end
        index += 1
      }
      let day = (row.end - 1) / daySeconds
      let begin = day * daySeconds
      days[day].append(
        Encounter(
          row.first, row.second, from: max(row.end - step - begin, 0), to: end - begin,
          metres: row.metres, at: .recorded))
    }
    return days.map { $0.inOrder() }
  }
}

/// The lines of a recording that have been read.
struct RecordedLines {
  struct Row {
    let first: Int
    let second: Int
    let end: Int
    let metres: Double

    func isSamePair(as other: Row) -> Bool { first == other.first && second == other.second }
  }

  private(set) var rows: [Row] = []
  private(set) var names: [String] = []
  private let step: Int
  private let metres: Double
  private var numbers: [String: Int] = [:]

  private static let range = 0.0...100.0

  init(step: Int, metres: Double) {
    self.step = step
    self.metres = metres
  }

  mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(RecordedContactsError) {
    // Replacement characters would make different names equal.
    guard String(validating: line, as: UTF8.self) != nil else { throw .encoding(line: number) }
    let fields = Self.fields(of: line)
    guard fields.contains(where: { !$0.isEmpty }) else { return }
    // An empty field between commas would move the others.
    guard !fields.contains("") else {
      throw .fields(line: number, fields.count { !$0.isEmpty })
    }
    let head = fields[0]
    if number == 1, head.lowercased() == "time" { return }
    guard (3...4).contains(fields.count) else { throw .fields(line: number, fields.count) }
    guard let end = Int(head), (1...RecordedContacts.daysMax * 86_400).contains(end) else {
      throw .time(line: number)
    }
    let distance = fields.count == 4 ? Double(fields[3]) : metres
    guard let distance, Self.range.contains(distance) else { throw .distance(line: number) }
    let (one, other) = (person(fields[1]), person(fields[2]))
    guard one != other else { throw .samePerson(line: number) }
    rows.append(Row(first: min(one, other), second: max(one, other), end: end, metres: distance))
  }

  /// The fields between commas; without a comma outside of quotation marks, those between blanks.
  private static func fields(of line: ArraySlice<UInt8>) -> [String] {
    let fields =
      hasComma(line)
      ? split(line) { $0 == comma } : split(line, where: isBlank).filter { !$0.isEmpty }
    return fields.map(unquoted)
  }

  /// True if a comma is outside of quotation marks.
  private static func hasComma(_ line: ArraySlice<UInt8>) -> Bool {
    var (isQuoted, previous) = (false, comma)
    for byte in line {
      let mayBegin = previous == comma || previous == quotationMark || isBlank(previous)
      if byte == quotationMark, isQuoted || mayBegin { isQuoted.toggle() }
      if byte == comma, !isQuoted { return true }
      previous = byte
    }
    return false
  }

  private static func split(
    _ line: ArraySlice<UInt8>, where isSeparator: (UInt8) -> Bool
  ) -> [ArraySlice<UInt8>] {
    var (fields, start) = ([ArraySlice<UInt8>](), line.startIndex)
    // A quotation mark in a field that does not begin with one is a character as others.
    var (isQuoted, beginsWithMark, isAtBegin) = (false, false, true)
    for (index, byte) in zip(line.indices, line) {
      if isSeparator(byte), !isQuoted {
        fields.append(line[start..<index])
        (start, beginsWithMark, isAtBegin) = (index + 1, false, true)
      } else if byte == quotationMark, isAtBegin || beginsWithMark {
        isQuoted.toggle()
        (beginsWithMark, isAtBegin) = (true, false)
      } else if !isBlank(byte) {
        isAtBegin = false
      }
    }
    return fields + [line[start...]]
  }

  private static let comma = UInt8(ascii: ",")
  private static let quotationMark = UInt8(ascii: "\"")

  private static func isBlank(_ byte: UInt8) -> Bool { [9, 13, 32].contains(byte) }

  /// A field without blanks around it, and without the quotation marks of RFC 4180 that R and spreadsheets write.
  private static func unquoted(_ field: ArraySlice<UInt8>) -> String {
    let field = trimmed(field)
    guard field.count > 1, field.first == quotationMark, field.last == quotationMark else {
      return String(decoding: field, as: UTF8.self)
    }
    var bytes: [UInt8] = []
    for byte in trimmed(field.dropFirst().dropLast()) {
      bytes.append(byte)
      // The second one of a pair stands for nothing.
      if bytes.suffix(2) == [quotationMark, quotationMark] { bytes.removeLast() }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func trimmed(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let tail = field.drop(while: isBlank)
    return tail[..<(tail.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? tail.startIndex)]
  }

  private mutating func person(_ name: String) -> Int {
    if let number = numbers[name] { return number }
    numbers[name] = names.count
    names.append(name)
    return names.count - 1
  }
}

/// The reason why a recording cannot be read, with what to do.
public enum RecordedContactsError: Error, Hashable, Sendable, CustomStringConvertible {
  case empty
  case compressed
  case tooMany(Int)
  case encoding(line: Int)
  case fields(line: Int, Int)
  case time(line: Int)
  case distance(line: Int)
  case samePerson(line: Int)

  public var description: String {
    switch self {
    case .empty: "has no contact: write lines of time,person,person,distance"
    case .compressed: "is compressed: decompress it with gunzip or unzip"
    case .tooMany(let limit): "has more than \(limit) lines: divide it"
    case .encoding(let line): "is not UTF-8 in line \(line): save it as UTF-8"
    case .fields(let line, let count):
      "has \(count) fields in line \(line): write time,person,person,distance"
    case .time(let line):
      "has no time in line \(line): write the seconds from 0:00 of the first day, at most "
        + "\(RecordedContacts.daysMax) days"
    case .distance(let line): "has no distance in line \(line): write metres from 0 to 100"
    case .samePerson(let line): "names one person twice in line \(line): name two people"
    }
  }
}
