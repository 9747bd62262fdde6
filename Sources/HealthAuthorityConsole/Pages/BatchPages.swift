// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import QuietHTTP
import World

/// The page on which many codes are issued from a list, and the list of codes as a page or as CSV.
struct BatchPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let actions: AuditedActions
  let clock: any WallClock
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .issueCodes)
    pages.get(router, "/codes/batch", access) { form($0) }
    pages.post(router, "/codes/batch", access, issue)
  }

  private func form(_ visit: Visit, lines: String = "", fault: String? = nil) -> Response {
    var values: [String: Any] = [
      "batch": UUID(randomness: randomness).text, "lines": lines,
      "today": visit.texts.times.day(clock.now),
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        visit.texts[.batchTitle], .batch, values, status: fault == nil ? .ok : .unprocessableContent
      ),
      for: visit)
  }

  private func issue(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let batch = UUID(uuidString: form["batch"]) else { throw PageRefusal.malformed }
    let text = form["file"].isEmpty ? form["lines"] : form["file"]
    let lines: [BatchLine]
    do throws(BatchFault) {
      lines = try BatchLine.lines(
        text, of: batch, countMax: ConsoleLimit.batchCodesMax,
        minutesAheadOfUTC: visit.texts.times.minutesAheadOfUTC(at: clock.now))
    } catch {
      return self.form(visit, lines: text, fault: error.text(visit.texts))
    }
    let results = try await actions.perform(
      AuditEvent(visit.account.name, .batchIssued, batch.text, detail: "\(lines.count) codes")
    ) { () throws(AuthorityFailure) in await authority.issue(lines.map(\.request)) }
    let rows = zip(lines, results).map { Row($0, $1, visit) }
    return form["as"] == "csv" ? download(rows, visit) : page(rows, visit)
  }

  /// A line of the result.
  private struct Row {
    let reference: String
    var code = ""
    var expires = ""
    let uuid: String
    var fault = ""

    init(_ line: BatchLine, _ result: Result<IssuedCode, AuthorityFailure>, _ visit: Visit) {
      reference = line.reference
      uuid = line.request.uuid.text
      switch result {
      case .success(let issued):
        (code, expires) = (issued.code, visit.time(issued.expiresAt))
      case .failure(.taken): fault = visit.texts[.batchIssuedBefore]
      case .failure(.refused(let message)), .failure(.notOffered(let message)):
        fault = visit.texts.sentence(message)
      case .failure(.notIssued(let failure)): fault = visit.texts.sentence(failure)
      case .failure(.notFound), .failure(.changed), .failure(.unavailable):
        fault = visit.texts[.errorServerTitle]
      }
    }

    var fields: [String] { [reference, code, expires, uuid, fault] }
  }

  private func page(_ rows: [Row], _ visit: Visit) -> Response {
    let issued = rows.count { $0.fault.isEmpty }
    let values: [String: Any] = [
      "summary": visit.texts[.batchSummary, "\(issued)", "\(rows.count - issued)"],
      "rows": rows.map {
        [
          "reference": $0.reference, "code": $0.code, "expires": $0.expires, "uuid": $0.uuid,
          "fault": $0.fault,
        ]
      },
    ]
    return pages.renderer.response(
      Page(visit.texts[.batchResult], .batchResult, values), for: visit)
  }

  private func download(_ rows: [Row], _ visit: Visit) -> Response {
    let header = ["reference", "code", "expires", "uuid", "fault"]
    return PageRenderer.download(
      CSV.text([header] + rows.map(\.fields)), name: "codes.csv", type: "text/csv; charset=utf-8")
  }
}

/// A line of the list: the laboratory's own reference, and the code to issue.
struct BatchLine: Sendable {
  let reference: String
  let request: CodeRequest

  /// Reads the lines of a list. The UUIDs are derived from that of the form, so that a form that is sent twice does not
  /// issue codes twice.
  static func lines(
    _ text: String, of batch: UUID, countMax: Int, minutesAheadOfUTC: Int
  ) throws(BatchFault) -> [BatchLine] {
    var rows = CSV.rows(text)
    if rows.first?.first?.lowercased() == "reference" { rows.removeFirst() }
    guard !rows.isEmpty else { throw .empty }
    guard rows.count <= countMax else { throw .tooMany(countMax) }
    var lines: [BatchLine] = []
    for (index, row) in rows.enumerated() {
      let fields = row.map { $0.trimmingCharacters(in: .whitespaces) }
      guard (2...3).contains(fields.count) else { throw .line(index + 1, .batchBadColumns) }
      guard let test = CodeRequest.TestType(rawValue: fields[1].lowercased()) else {
        throw .line(index + 1, .batchBadTest)
      }
      let day = fields.count == 3 ? fields[2] : ""
      guard day.isEmpty || CalendarText.isDay(day) else { throw .line(index + 1, .batchBadDay) }
      let hash = SHA256.hash(data: Data("\(batch.text) \(index)".utf8))
      let uuid = UUID(bytes: Array(hash.prefix(16)), version: 0x80)
      lines.append(
        BatchLine(
          reference: String(fields[0].prefix(64)),
          request: CodeRequest(
            uuid: uuid, testType: test, symptomDate: day.isEmpty ? nil : day,
            minutesAheadOfUTC: minutesAheadOfUTC)))
    }
    return lines
  }
}

/// The first fault of a list.
enum BatchFault: Error, Hashable {
  case empty
  case tooMany(Int)
  case line(Int, TextKey)

  func text(_ texts: Texts) -> String {
    switch self {
    case .empty: texts[.batchEmpty]
    case .tooMany(let count): texts[.batchTooMany, "\(count)"]
    case .line(let number, let key): texts[.batchBadLine, "\(number)", texts[key]]
    }
  }
}

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

  /// The text of `rows`. An apostrophe precedes each character with which a spreadsheet could begin a formula.
  static func text(_ rows: [[String]]) -> String {
    rows.map { $0.map(escaped).joined(separator: ",") + "\r\n" }.joined()
  }

  private static func escaped(_ field: String) -> String {
    let field = withoutFormulas(field)
    guard field.contains(where: { "\",".contains($0) || $0.isNewline }) else { return field }
    return "\"\(field.replacing("\"", with: "\"\""))\""
  }

  /// Spreadsheets of some countries separate fields at semicolons or tabs, even inside our quotation marks, and ignore
  /// white space and invisible characters at the start of a field. So a formula can begin after any of them.
  private static func withoutFormulas(_ field: String) -> String {
    var (text, isStart) = ("", true)
    for scalar in field.unicodeScalars {
      if isStart, isFormulaSign(scalar) { text.append("'") }
      text.unicodeScalars.append(scalar)
      if separators.contains(scalar) {
        isStart = true
      } else if !isSkipped(scalar) {
        isStart = false
      }
    }
    return text
  }

  private static let separators = CharacterSet(charactersIn: ",;|\t\"").union(.newlines)

  /// The signs in all their widths: `=`, `+`, `-` and `@`.
  private static func isFormulaSign(_ scalar: Unicode.Scalar) -> Bool {
    let narrow = String(scalar).precomposedStringWithCompatibilityMapping
    return ["=", "+", "-", "@", "\u{2212}", "\u{2010}", "\u{2011}"].contains(narrow)
  }

  private static func isSkipped(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
      || [.control, .format].contains(scalar.properties.generalCategory)
  }
}

/// The templates of the list of codes.
enum BatchTemplates {
  static let batch = """
    <h1>{{t.batchTitle}}</h1>
    <p class="lead">{{t.batchLead}}</p>
    <pre class="example">A-17,confirmed,{{today}}\nA-18,likely,</pre>
    <p>{{t.batchReference}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes/batch" enctype="multipart/form-data" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="batch" value="{{batch}}">
    <label for="file">{{t.batchFile}}</label>
    <input id="file" name="file" type="file" accept=".csv,text/csv,text/plain">
    <label for="lines">{{t.batchText}}</label>
    <textarea id="lines" name="lines" rows="8" spellcheck="false">{{lines}}</textarea>
    <div class="actions">
    <button id="batch-show" name="as" value="page" class="primary">{{t.batchShow}}</button>
    <button id="batch-download" name="as" value="csv">{{t.batchDownload}}</button>
    </div>
    </form>
    """

  static let batchResult = """
    <h1>{{t.batchResult}}</h1>
    <p class="lead" role="status" id="summary">{{summary}}</p>
    <p class="notice">{{t.shownOnce}}</p>
    \(LayoutTemplate.wide("codes-caption"))
    <table id="codes"><caption id="codes-caption">{{t.batchResult}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.batchColumnReference}}</th><th scope="col">{{t.batchColumnCode}}</th>
    <th scope="col">{{t.batchColumnExpires}}</th><th scope="col">{{t.batchColumnNumber}}</th>
    <th scope="col">{{t.batchColumnFault}}</th></tr></thead>
    <tbody>
    {{#rows}}
    <tr><th scope="row">{{reference}}</th><td class="code">{{code}}</td><td class="time">{{expires}}</td>
    <td><code>{{uuid}}</code></td><td>{{fault}}</td></tr>
    {{/rows}}
    </tbody></table></div>
    <p><a class="button" href="/codes/batch">{{t.batchTitle}}</a></p>
    """
}
