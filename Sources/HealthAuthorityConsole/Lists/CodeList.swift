// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import World

/// A list for which codes are issued: one code for each reference.
struct CodeList: Sendable {
  /// The entry of one reference.
  struct Entry: Sendable {
    /// The line of the file on which the reference stands first.
    let line: Int
    /// The laboratory's own name for the person.
    let reference: String
    var request: CodeRequest
    /// The number that the code had before references were composed; nil if it is the same.
    let earlierNumber: UUID?
  }

  /// The faults of a list. No code is issued for a list with one.
  struct Faults: Error {
    let all: [Fault]
  }

  /// A fault of a line, or of the whole list.
  struct Fault: Hashable, Sendable {
    let line: Int?
    let key: TextKey
    var values: [String] = []

    func text(_ texts: Texts) -> String {
      let text = texts[key, values]
      return line.map { texts[.batchBadLine, "\($0)", text] } ?? text
    }
  }

  private(set) var entries: [Entry]
  /// The number of lines whose reference stands on an earlier line, with the same values.
  let repeatedLines: Int
  /// True if the codes are sent by SMS: then each entry has a phone number.
  var sendsSMS: Bool { entries.contains { $0.request.phone != nil } }

  /// The list whose codes keep their earlier numbers if these are in `known`: a list that an earlier version has begun
  /// continues, and sends no SMS twice.
  func keepingNumbers(in known: Set<UUID>) -> CodeList {
    var list = self
    for index in entries.indices {
      guard let number = entries[index].earlierNumber, known.contains(number) else { continue }
      list.entries[index].request.uuid = number
    }
    return list
  }
}

/// Reads the lines of a list and finds all their faults.
struct CodeListReader: Sendable {
  /// The number of the list. The numbers of its codes are derived from it and the references, so that a list that is
  /// sent twice does not issue a code twice.
  let batch: UUID
  let times: OfficeTime
  let now: Date
  /// True if codes can be sent by SMS.
  let sendsSMS: Bool
  /// The name of the official who sends the list.
  var official: String?

  /// The values of one line.
  private struct Values: Hashable {
    let test: CodeRequest.TestType
    let day: String
    let phone: String
  }

  func list(_ text: String) throws(CodeList.Faults) -> CodeList {
    var rows = CSV.rows(text)
    if let first = rows.first, Self.isHeader(first.fields) { rows.removeFirst() }
    guard !rows.isEmpty else { throw fault(.batchEmpty) }
    guard rows.count <= ConsoleLimit.batchCodesMax else {
      throw fault(.batchTooMany, "\(ConsoleLimit.batchCodesMax)")
    }
    let needsPhone = sendsSMS && rows.contains { Self.hasPhone($0.fields) }
    var faults: [CodeList.Fault] = []
    var (entries, known): ([CodeList.Entry], [String: (line: Int, values: Values)]) = ([], [:])
    for row in rows {
      let values: Values
      do throws(CodeList.Faults) {
        values = try self.values(of: row, needsPhone: needsPhone)
      } catch {
        faults += error.all
        continue
      }
      let reference = Self.trimmed(row.fields[0])
      if let before = known[reference], !reference.isEmpty {
        if before.values != values {
          faults.append(
            CodeList.Fault(
              line: row.line, key: .batchOtherValues, values: [reference, "\(before.line)"]))
        }
        continue
      }
      known[reference] = (row.line, values)
      entries.append(entry(row.line, reference, values))
    }
    guard faults.isEmpty else { throw CodeList.Faults(all: faults) }
    return CodeList(entries: entries, repeatedLines: rows.count - entries.count)
  }

  private func fault(_ key: TextKey, _ values: String...) -> CodeList.Faults {
    CodeList.Faults(all: [CodeList.Fault(line: nil, key: key, values: values)])
  }

  private func entry(_ line: Int, _ reference: String, _ values: Values) -> CodeList.Entry {
    // Lines without a reference are different persons. A letter with an accent has the same number however the program
    // that wrote the file has composed it.
    let composed = reference.precomposedStringWithCanonicalMapping
    let isComposed = reference.unicodeScalars.elementsEqual(composed.unicodeScalars)
    var request = CodeRequest(
      uuid: number(reference.isEmpty ? "line \(line)" : "reference \(composed)"),
      testType: values.test,
      symptomDate: values.day.isEmpty ? nil : values.day,
      minutesAheadOfUTC: times.minutesAheadOfUTC(at: now),
      phone: values.phone.isEmpty ? nil : values.phone)
    request.official = official
    return CodeList.Entry(
      line: line, reference: reference, request: request,
      earlierNumber: isComposed ? nil : number("reference \(reference)"))
  }

  private func number(_ name: String) -> UUID {
    let hash = SHA256.hash(data: Data("\(batch.text) \(name)".utf8))
    return UUID(bytes: Array(hash.prefix(16)), version: 0x80)
  }

  // MARK: - One line

  private static func hasPhone(_ fields: [String]) -> Bool {
    // A dash stands for an unknown number. A text that is no number, nil, is refused with its line.
    fields.count > 3 && PhoneText.international(trimmed(fields[3])) != ""
  }

  /// - Parameter needsPhone: True for a list by SMS, whose codes are not shown.
  private func values(
    of row: CSV.Row, needsPhone: Bool
  ) throws(CodeList.Faults) -> Values {
    let fields = row.fields.map(Self.trimmed)
    var faults: [CodeList.Fault] = []
    func add(_ key: TextKey, _ values: String...) {
      faults.append(CodeList.Fault(line: row.line, key: key, values: values))
    }
    guard row.isClosed else {
      throw CodeList.Faults(all: [CodeList.Fault(line: row.line, key: .batchBadQuote)])
    }
    guard fields.count >= 2, fields.dropFirst(4).allSatisfy(\.isEmpty) else {
      throw CodeList.Faults(all: [CodeList.Fault(line: row.line, key: .batchBadColumns)])
    }
    if fields[0].count > ConsoleLimit.referenceCharactersMax {
      add(.batchLongReference, "\(ConsoleLimit.referenceCharactersMax)")
    }
    let test = Self.tests[fields[1].lowercased()]
    if test == nil { add(.batchBadTest) }
    let day = fields.count > 2 ? CalendarText.day(fields[2]) : ""
    if let day {
      if !day.isEmpty, !isRecent(day) {
        add(.refusalDate, "\(ConsoleLimit.symptomAgeDaysMax)")
      }
    } else {
      add(.batchBadDay)
    }
    let phone = fields.count > 3 ? PhoneText.international(fields[3]) : ""
    if phone == nil { add(.batchBadPhone) }
    if phone?.isEmpty == false, !sendsSMS { add(.batchNoSMS) }
    if phone?.isEmpty == true, needsPhone { add(.batchNoPhone) }
    guard faults.isEmpty, let test, let day, let phone else { throw CodeList.Faults(all: faults) }
    return Values(test: test, day: day, phone: phone)
  }

  /// True for a day that the verification server accepts.
  private func isRecent(_ day: String) -> Bool {
    times.day(now, offset: -ConsoleLimit.symptomAgeDaysMax) <= day && day <= times.day(now)
  }

  private static func trimmed(_ field: String) -> String {
    field.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// True for a first row with the names of the columns.
  private static func isHeader(_ fields: [String]) -> Bool {
    let names = Set(
      ConsoleLanguage.allCases.map { Texts.text(.batchColumnReference, in: $0)?.lowercased() })
    let words = fields.map { trimmed($0).lowercased() }
    return names.contains(words.first)
      || (words.count > 1 && ["test", "badanie"].contains(words[1]))
  }

  /// The tests by the words that lists have for them.
  private static let tests: [String: CodeRequest.TestType] = [
    "confirmed": .confirmed, "potwierdzony": .confirmed, "potwierdzone": .confirmed,
    "likely": .likely, "prawdopodobny": .likely, "prawdopodobne": .likely,
  ]
}

/// Days as text.
enum CalendarText {
  /// The day of a text such as `2027-01-15`, `2027-1-15`, `15.01.2027` or `2027-01-15 00:00:00` in the first form.
  ///
  /// - Returns: An empty text for an empty one; nil for a text that is no day.
  static func day(_ text: String) -> String? {
    guard !text.isEmpty else { return "" }
    let midnight = /\s+0?0:00(:00)?/
    let numbers: (year: Substring, month: Substring, day: Substring)
    if let match = text.wholeMatch(of: /([0-9]{4})[-.\/]([0-9]{1,2})[-.\/]([0-9]{1,2})(\s.*)?/) {
      guard match.4.map({ $0.wholeMatch(of: midnight) != nil }) ?? true else { return nil }
      numbers = (match.1, match.2, match.3)
    } else if let match = text.wholeMatch(of: /([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(\s.*)?/) {
      guard match.4.map({ $0.wholeMatch(of: midnight) != nil }) ?? true else { return nil }
      numbers = (match.3, match.2, match.1)
    } else {
      return nil
    }
    let day = [numbers.year, numbers.month, numbers.day].map { number in
      number.count == 1 ? "0\(number)" : String(number)
    }.joined(separator: "-")
    // 30 February is read as a day in March, or not at all.
    guard let date = try? Date("\(day)T00:00:00Z", strategy: .iso8601) else { return nil }
    return OfficeTime.utcDay(date) == day ? day : nil
  }
}

/// Phone numbers as people write them.
enum PhoneText {
  /// The number as `+` and digits; empty for an empty text, and nil for one without a country code.
  static func international(_ text: String) -> String? {
    // Programs add invisible marks and spaces of other widths to numbers that are copied from them.
    let plain = String(
      String.UnicodeScalarView(text.unicodeScalars.filter { !isPunctuation($0) }))
    guard !plain.isEmpty else { return "" }
    let number = plain.hasPrefix("00") ? "+\(plain.dropFirst(2))" : plain
    return number.wholeMatch(of: /\+[1-9][0-9]{7,14}/) == nil ? nil : number
  }

  private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .dashPunctuation, .format: true
    default: "()./".unicodeScalars.contains(scalar)
    }
  }
}
