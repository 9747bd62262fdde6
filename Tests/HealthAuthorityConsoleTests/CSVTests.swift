// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

@Suite("Lists for spreadsheets")
struct CSVTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "No spreadsheet of any country reads a formula in a field",
    arguments: [
      "=cmd", "+1", "-1", "@SUM(A1)", ";=cmd", "a;=cmd", "a;;+1", "a\t=cmd", "\n=cmd", "a\r\n=cmd",
      " =cmd", "\u{FEFF}=cmd", "\u{200B}=cmd", "\u{FF1D}cmd", "\u{FF0B}1", "\u{FF0D}1", "\u{FF20}a",
      "x;\u{FF1D}cmd", "\u{2212}1", "\"=cmd", "a,=cmd", "a;\" =cmd", "a|=cmd",
    ])
  func formulas(field: String) {
    let text = CSV.text([["a", field]])
    // Spreadsheets separate fields with other characters in other countries.
    for part in text.split(whereSeparator: { ",;|\t\r\n\"".contains($0) || $0.isNewline }) {
      let first = part.unicodeScalars.first { scalar in
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
      }
      let narrow = first.map { String($0).precomposedStringWithCompatibilityMapping } ?? ""
      #expect(!["=", "+", "-", "@", "\u{2212}"].contains(narrow), "\(text.debugDescription)")
    }
    #expect(CSV.fields(text).first?.last?.replacing("'", with: "") == field)
  }

  @Test("Fields without formulas are unchanged", arguments: ["a-b", "1 = 2", "a@b.example", "x+y"])
  func plain(field: String) {
    #expect(CSV.text([[field]]) == "\u{FEFF}\(field)\r\n")
  }

  /// A file as RFC 4180 defines it, with a separator of choice.
  private struct Table {
    let rows: [[String]]

    /// Fails if a byte is against the grammar: the byte order mark and UTF-8 first, then records of equal length, each
    /// with CRLF at its end, and quotation marks only around fields and twice inside.
    init?(_ data: Data, separator: UInt8) {
      guard data.starts(with: [0xEF, 0xBB, 0xBF]), String(validating: data, as: UTF8.self) != nil,
        data.suffix(2) == Data([0x0D, 0x0A])
      else { return nil }
      var (rows, row): ([[String]], [String]) = ([], [])
      var rest = data.dropFirst(3)
      while !rest.isEmpty {
        guard let field = Self.field(&rest, separator) else { return nil }
        row.append(field)
        if rest.first == separator {
          rest.removeFirst()
        } else if rest.prefix(2) == Data([0x0D, 0x0A]) {
          rest.removeFirst(2)
          rows.append(row)
          row = []
        } else {
          return nil
        }
      }
      guard row.isEmpty, Set(rows.map(\.count)).count == 1 else { return nil }
      self.rows = rows
    }

    private static func field(_ rest: inout Data, _ separator: UInt8) -> String? {
      guard rest.first == 0x22 else {
        let field = rest.prefix { ![0x0A, 0x0D, 0x22, separator].contains($0) }
        rest = rest.dropFirst(field.count)
        return String(decoding: field, as: UTF8.self)
      }
      rest = rest.dropFirst()
      var field = Data()
      while let byte = rest.popFirst() {
        guard byte == 0x22 else {
          field.append(byte)
          continue
        }
        guard rest.first == 0x22 else { return String(decoding: field, as: UTF8.self) }
        field.append(byte)
        rest = rest.dropFirst()
      }
      return nil
    }
  }

  @Test(
    "A file follows the grammar of RFC 4180 and keeps each field, with the separator of a language",
    arguments: ConsoleLanguage.allCases)
  func grammar(language: ConsoleLanguage) throws {
    let separator = CSV.separator(for: language)
    let sign = try #require(separator.utf8.first)
    let rows = [
      ["Zażółć", "a\"b\"", "a,b", "a;b"], ["", "line 1\r\nline 2", "a\tb", " edge "],
      ["\"", "\"\"", "1,5", "2027-01-15 09:00"],
      ["x;\u{301}y", "x,\u{301}y", "x\"\u{301}y", "x\n\u{301}y"],
    ]
    let data = Data(CSV.text(rows, separator: separator).utf8)
    #expect(Table(data, separator: sign)?.rows == rows)
    let newline = Data("\u{FEFF}a\n".utf8)
    #expect(
      Table(newline, separator: sign) == nil && Table(data.dropFirst(3), separator: sign) == nil)
  }

  @Test(
    "Signs are found beside scalars that form one character with them, and each row has its line",
    arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"])
  func combining(mark: String) {
    // An Arabic number sign forms one character with the sign after it.
    let text =
      "a,\(mark)b\r\n\"\(mark)c,\"\"\(mark)d\",e\r\n\"f\r\ng\",\u{600},h\n\r\nsep=,\u{600}\"\r\n"
    let rows = CSV.rows(text)
    let expected = [
      ["a", "\(mark)b"], ["\(mark)c,\"\(mark)d", "e"], ["f\r\ng", "\u{600}", "h"],
      ["sep=", "\u{600}\""],
    ]
    func scalars(_ rows: [[String]]) -> [[[UInt32]]] {
      rows.map { $0.map { $0.unicodeScalars.map(\.value) } }
    }
    #expect(scalars(rows.map(\.fields)) == scalars(expected))
    #expect(rows.map(\.line) == [1, 2, 3, 6])
    #expect(CSV.fields("sep=;\(mark)\r\na;\(mark)b") == [["a", "\(mark)b"]])
  }

  @Test("Each file of the console opens in spreadsheets, in both languages")
  func downloads() async throws {
    try await RunningConsole.run(in: folder.url, authority: try SimulatedAuthority.inUse()) {
      console async throws in
      let issuer = try await console.signedIn(.issuer, name: "Anna")
      let ewa = try await console.signedIn(.epidemiologist, name: "Ewa")
      for (language, separator) in [("en", ","), ("pl", ";")] {
        let sign = try #require(separator.utf8.first)
        _ = try await issuer.get("/language/\(language)?next=/")
        _ = try await ewa.get("/language/\(language)?next=/")
        let batch = try await issuer.get("/codes/batch").field("batch")
        let lines = "\"A, 1\",confirmed,2027-01-12\nB;2,likely,\n"
        let codes = try await issuer.post(
          "/codes/batch", ["batch": batch, "lines": lines, "as": "csv"])
        let table = Table(Data(codes.text.utf8), separator: sign)
        #expect((table?.rows.count ?? 0) > 1, "\(codes.text)")
        for path in ["/funnel/csv", "/officials/csv", "/issuers/csv", "/attempts/csv"] {
          let file = try await ewa.get(path)
          #expect(file.headers["content-type"] == "text/csv; charset=utf-8")
          #expect(
            (Table(Data(file.text.utf8), separator: sign)?.rows.count ?? 0) > 1,
            "\(path): \(file.text)")
        }
      }
    }
  }
}
