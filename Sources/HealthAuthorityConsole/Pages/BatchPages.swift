// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import World

/// The page on which many codes are issued from a list. The codes come back as a page or as CSV, or are sent by SMS.
struct BatchPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let actions: AuditedActions
  let issuedCodes: IssuedCodeStore
  let smsLists: SMSLists
  let sendsSMS: Bool
  let clock: any WallClock
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .issueCodes)
    pages.get(router, "/codes/batch", access) { form($0) }
    pages.post(router, "/codes/batch", access, keep: keep, issue)
    pages.get(router, "/codes/batch/:id", access, progress)
    pages.post(router, "/codes/batch/:id/resume", access, resume)
  }

  // MARK: - The form

  /// The list of a form.
  private struct Draft {
    var number: String
    var lines: String
  }

  private func form(
    _ visit: Visit, _ draft: Draft? = nil, faults: [CodeList.Fault] = [], notice: TextKey? = nil
  ) -> Response {
    let texts = visit.texts
    var values: [String: Any] = [
      "batch": draft?.number ?? UUID(randomness: randomness).text, "lines": draft?.lines ?? "",
      "sendsSMS": sendsSMS, "example": texts.listExample(clock.now, sendsSMS: sendsSMS),
      "lead": texts[sendsSMS ? .batchLeadSMS : .batchLead],
    ]
    if let notice { values["notice"] = texts[notice] }
    if faults.count == 1 {
      values["fault"] = faults[0].text(texts)
    } else if !faults.isEmpty {
      values["fault"] = texts[.batchFaults, "\(faults.count)"]
      values["hasFaults"] = true
      values["faults"] = shown(faults, texts).map { ["text": $0] }
    }
    return pages.renderer.response(
      Page(
        texts[.batchTitle], .batch, values, status: faults.isEmpty ? .ok : .unprocessableContent),
      for: visit)
  }

  private func shown(_ faults: [CodeList.Fault], _ texts: Texts) -> [String] {
    let max = ConsoleLimit.listFaultsOnPage
    return faults.prefix(max).map { $0.text(texts) }
      + (faults.count > max ? [texts[.batchMoreFaults, "\(faults.count - max)"]] : [])
  }

  /// The page that keeps the list of a form whose session has ended or is another one. Nothing is issued.
  private func keep(_ visit: Visit, _ form: Form) async throws -> Response {
    let draft: Draft
    do throws(ListText.Fault) { draft = try self.draft(form) } catch {
      guard visit.session != nil else { throw PageRefusal.sessionEnded }
      return self.form(visit, faults: [Self.fault(error)])
    }
    guard visit.session == nil else { return self.form(visit, draft, notice: .batchKeptNotice) }
    let (title, count) = (visit.texts[.errorEndedTitle], CSV.rows(draft.lines).count)
    var response = pages.renderer.response(
      Page(
        title, .batchKept,
        [
          "title": title, "batch": draft.number, "lines": draft.lines,
          "count": visit.texts[.batchKeptLines, "\(count)"],
        ], status: .unauthorized), for: visit)
    response.headers[.setCookie] = pages.cookie(for: visit.context).removal
    return response
  }

  /// The list of a form, from its file or its field.
  private func draft(_ form: Form) throws(ListText.Fault) -> Draft {
    let file = form.file("file")
    let number = form["number"].isEmpty ? form["batch"] : form["number"]
    return Draft(
      number: number, lines: file.isEmpty ? form.exact("lines") : try ListText.decoded(file))
  }

  private static func fault(_ fault: ListText.Fault) -> CodeList.Fault {
    CodeList.Fault(line: nil, key: fault == .workbook ? .batchWorkbook : .batchNotText)
  }

  // MARK: - The codes

  private func issue(_ visit: Visit, _ form: Form) async throws -> Response {
    let draft: Draft
    do throws(ListText.Fault) { draft = try self.draft(form) } catch {
      return self.form(visit, faults: [Self.fault(error)])
    }
    guard let number = UUID(uuidString: draft.number) else {
      guard !form["number"].isEmpty else { throw PageRefusal.malformed }
      return self.form(
        visit, Draft(number: form["batch"], lines: draft.lines),
        faults: [CodeList.Fault(line: nil, key: .batchBadNumber)])
    }
    let official = try visit.account.name
    var list: CodeList
    do throws(CodeList.Faults) {
      list = try CodeListReader(
        batch: number, times: visit.texts.times, now: clock.now, sendsSMS: sendsSMS,
        official: official
      ).list(draft.lines)
    } catch {
      return self.form(visit, draft, faults: error.all)
    }
    list = try await issuedCodes.keepingNumbers(list)
    guard !list.sendsSMS else { return try await send(list, number, draft, visit) }
    let results = try await issue(list, number, visit)
    let rows = zip(list.entries, results).map { IssuedRow($0, $1, visit.texts) }
    return form["as"] == "csv" ? download(rows, visit) : page(rows, list, visit)
  }

  private func issue(
    _ list: CodeList, _ number: UUID, _ visit: Visit
  ) async throws -> [Result<IssuedCode, AuthorityFailure>] {
    let (requests, account) = (list.entries.map(\.request), try visit.account)
    let stored = try await issuedCodes.add(requests, list: number, by: account)
    let results = try await actions.perform(event(list, number, account)) {
      () throws(AuthorityFailure) in await authority.issue(requests)
    }
    let refused = zip(requests, results).filter { _, result in
      if case .failure(let failure) = result { failure.isRefusalOfCode } else { false }
    }
    try await issuedCodes.remove(refused.map { $0.0.uuid }.filter(stored.contains))
    return results
  }

  private func event(_ list: CodeList, _ number: UUID, _ account: Account) -> AuditEvent {
    AuditEvent(
      account.name, .batchIssued, number.text,
      detail: "\(list.entries.count) codes\(list.sendsSMS ? " by SMS" : "")")
  }

  private func page(_ rows: [IssuedRow], _ list: CodeList, _ visit: Visit) -> Response {
    let texts = visit.texts
    let issued = rows.count { $0.fault.isEmpty }
    var values: [String: Any] = [
      "summary": texts[.batchSummary, "\(issued)", "\(rows.count - issued)"],
      "rows": rows.map(\.values),
    ]
    if list.repeatedLines > 0 {
      values["repeated"] = texts[.batchRepeated, "\(list.repeatedLines)"]
    }
    return pages.renderer.response(Page(texts[.batchResult], .batchResult, values), for: visit)
  }

  private func download(_ rows: [IssuedRow], _ visit: Visit) -> Response {
    let header: [TextKey] = [
      .batchColumnReference, .batchColumnCode, .batchColumnExpires, .batchColumnZone,
      .batchColumnNumber, .batchColumnFault,
    ]
    let text = CSV.text(
      [header.map { visit.texts[$0] }] + rows.map(\.fields),
      separator: CSV.separator(for: visit.language))
    return PageRenderer.download(text, name: "codes.csv", type: "text/csv; charset=utf-8")
  }
}

/// A code of a list, or the reason why there is none.
private struct IssuedRow {
  let reference: String
  let uuid: String
  var issued: IssuedCode?
  var fault = ""
  private let times: OfficeTime

  init(
    _ entry: CodeList.Entry, _ result: Result<IssuedCode, AuthorityFailure>, _ texts: Texts
  ) {
    reference = entry.reference
    uuid = entry.request.uuid.text
    times = texts.times
    switch result {
    case .success(let code): issued = code
    case .failure(let failure): fault = texts.listFault(failure)
    }
  }

  /// The values of the row of a page.
  var values: [String: String] {
    [
      "reference": reference, "code": issued?.code ?? "",
      "expires": issued.map { times.text($0.expiresAt) } ?? "", "uuid": uuid, "fault": fault,
    ]
  }

  /// The fields of the row of a spreadsheet.
  var fields: [String] {
    [
      reference, issued?.forSpreadsheet ?? "", issued.map { times.clockTime($0.expiresAt) } ?? "",
      issued.map { times.column(at: $0.expiresAt) } ?? "", uuid, fault,
    ]
  }
}

extension IssuedCode {
  /// The code as a spreadsheet keeps it: in groups if it could be read as a number or a day, which loses zeros. Spaces
  /// between the groups are part of a number in Polish, and plain hyphens part of a day. Apps ignore both.
  var forSpreadsheet: String {
    let couldBeNumber = code.wholeMatch(of: /[0-9]*[A-Z]*[0-9]*/) != nil
    return couldBeNumber ? grouped.replacing(" ", with: "\u{2011}") : code
  }
}

extension Texts {
  /// Two lines of a list, as a spreadsheet of the language writes them.
  fileprivate func listExample(_ now: Date, sendsSMS: Bool) -> String {
    let lines = [
      ["A-17", self[.batchExampleConfirmed], times.day(now)] + (sendsSMS ? ["+48123456789"] : []),
      ["A-18", self[.batchExampleLikely], ""] + (sendsSMS ? ["+48123456780"] : []),
    ]
    return lines.map { $0.joined(separator: CSV.separator(for: language)) }.joined(separator: "\n")
  }

  /// The reason why an entry of a list has no code.
  fileprivate func listFault(_ failure: AuthorityFailure) -> String {
    switch failure {
    case .taken: self[.batchIssuedBefore]
    case .refused(let message), .notOffered(let message): sentence(message)
    case .notIssued(let refusal): sentence(refusal)
    case .notFound, .changed, .unavailable: self[.errorServerTitle]
    }
  }
}

// MARK: - Lists by SMS

extension BatchPages {
  private func send(
    _ list: CodeList, _ number: UUID, _ draft: Draft, _ visit: Visit
  ) async throws -> Response {
    let account = try visit.account
    let isStarted = try await actions.perform(event(list, number, account)) {
      () throws(AuthorityFailure) in await smsLists.start(list, number: number, by: account)
    }
    guard isStarted else {
      return form(visit, draft, faults: [CodeList.Fault(line: nil, key: .smsListTooMany)])
    }
    return PageRenderer.redirection(to: "/codes/batch/\(number.text)")
  }

  private func resume(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let number = UUID(uuidString: visit.parameter("id")),
      await smsLists.resume(number, by: try visit.account)
    else { throw PageRefusal.missing }
    return PageRenderer.redirection(to: "/codes/batch/\(number.text)")
  }

  private func progress(_ visit: Visit) async throws -> Response {
    let texts = visit.texts
    guard let number = UUID(uuidString: visit.parameter("id")),
      let progress = await smsLists.progress(of: number, by: try visit.account)
    else { return gone(visit) }
    let sent = progress.count { [.sent, .sentBefore].contains($0) }
    let waiting = progress.count { $0 == .waiting }
    let failed = progress.rows.count - sent - waiting
    let isRunning = progress.state == .running
    let isWatched = visit.query("updates") != "off"
    var values: [String: Any] = [
      "number": number.text, "total": progress.rows.count, "ended": sent + failed,
      "summary": texts[.smsListProgress, "\(sent)", "\(failed)", "\(waiting)"],
      "state": state(progress.state, texts), "isRunning": isRunning, "isWatched": isWatched,
      "rows": progress.rows.map { row in
        [
          "line": "\(row.line)", "reference": row.reference, "uuid": row.uuid.text,
          "outcome": outcome(row.outcome, texts),
        ]
      },
    ]
    if !isRunning, failed + waiting > 0 {
      values["resume"] = texts[waiting > 0 ? .smsListResume : .smsListRetry]
    }
    var response = pages.renderer.response(Page(texts[.smsListTitle], .smsList, values), for: visit)
    if isRunning, isWatched, let refresh = HTTPFields.Element.Name("refresh") {
      response.headers[refresh] = "\(ConsoleLimit.smsListRefreshSeconds)"
    }
    return response
  }

  /// The page for a list that is not in memory any more, or of another account.
  private func gone(_ visit: Visit) -> Response {
    let title = visit.texts[.errorMissingTitle]
    return pages.renderer.response(
      Page(
        title, .message, ["title": title, "text": visit.texts[.smsListGone], "home": true],
        status: .notFound), for: visit)
  }

  private func state(_ state: SMSLists.State, _ texts: Texts) -> String {
    switch state {
    case .running: texts[.smsListRunning]
    case .done: texts[.smsListDone]
    case .interrupted(let failure): texts[.smsListInterrupted, texts.listFault(failure)]
    }
  }

  private func outcome(_ outcome: SMSLists.Outcome, _ texts: Texts) -> String {
    switch outcome {
    case .waiting: texts[.smsListWaiting]
    case .sent: texts[.smsListSent]
    case .sentBefore: texts[.smsListSentBefore]
    case .failed(let failure): texts.listFault(failure)
    }
  }
}
