/// Comma-separated values (RFC 4180).
enum CSV {
  /// The rows of `text`; rows without any text are left out. Semicolons separate fields too if the first row has no
  /// comma, as some spreadsheets write them.
  static func rows(_ text: String) -> [[String]] {
    let text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    let first = text.prefix { !$0.isNewline }
    let separator: Character = first.contains(";") && !first.contains(",") ? ";" : ","
    var (rows, row, field, isQuoted): ([[String]], [String], String, Bool) = ([], [], "", false)
    var rest = text[...]
    func isEmpty(_ row: [String]) -> Bool { row.allSatisfy { $0.allSatisfy(\.isWhitespace) } }
    while let character = rest.popFirst() {
      if isQuoted {
        if character != "\"" {
          field.append(character)
        } else if rest.first == "\"" {
          field.append("\"")
          rest.removeFirst()
        } else {
          isQuoted = false
        }
      } else if character == "\"", field.isEmpty {
        isQuoted = true
      } else if character == separator {
        row.append(field)
        field = ""
      } else if character.isNewline {
        row.append(field)
        if !isEmpty(row) { rows.append(row) }
        (row, field) = ([], "")
      } else {
        field.append(character)
      }
    }
    row.append(field)
    if !isEmpty(row) { rows.append(row) }
    return rows
  }

  /// The text of `rows`. A field that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
  static func text(_ rows: [[String]]) -> String {
    rows.map { $0.map(escaped).joined(separator: ",") + "\r\n" }.joined()
  }

  private static func escaped(_ field: String) -> String {
    let isFormula = field.first.map { "=+-@\t\r".contains($0) } ?? false
    let field = isFormula ? "'" + field : field
    guard field.contains(where: { "\",".contains($0) || $0.isNewline }) else { return field }
    return "\"\(field.replacing("\"", with: "\"\""))\""
  }
}
