// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import QuietHTTP
import World

/// The audit log: the newest entries, the state of the chain, and the export.
struct AuditPages: Sendable {
  let pages: PageRouter
  let audit: AuditLog

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/audit", .holders(of: .readAudit), show)
    pages.post(router, "/audit/export", .holders(of: .readAudit), export)
  }

  private func show(_ visit: Visit) async throws -> Response {
    let count = ConsoleLimit.auditEntriesOnPage
    let form = FilterForm(visit)
    let entries = try await audit.newest(
      count, before: visit.query("before").flatMap { Int64($0) },
      matching: form.filter(visit.texts.times))
    let chain = try await audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce)
    var values: [String: Any] = [
      "head": chain.head, "verdictClass": chain.fault == nil ? "notice" : "fault",
      "verdict": chain.fault.map { visit.texts[.auditBroken, visit.texts.sentence($0)] }
        ?? visit.texts[.auditIntact, "\(chain.count)"],
      "entries": entries.map {
        [
          "sequence": "\($0.sequence)", "time": visit.time($0.time),
          "actor": $0.actor == AuditEvent.commandLine ? visit.texts[.auditCommandLine] : $0.actor,
          "action": visit.texts.action($0.action), "subject": $0.subject,
          "detail": AuditDetail.text(of: $0, visit.texts),
        ]
      },
    ]
    if entries.count == count, let last = entries.last {
      values["older"] = "/audit?before=\(last.sequence)\(form.query)"
    }
    values.merge(form.values(visit.texts)) { $1 }
    return pages.renderer.response(Page(visit.texts[.auditTitle], .audit, values), for: visit)
  }

  /// The filter as it was typed.
  private struct FilterForm {
    static let names = ["actor", "action", "subject", "from", "to"]
    let typed: [String: String]

    init(_ visit: Visit) {
      typed = Dictionary(
        uniqueKeysWithValues: Self.names.map { name in
          (name, (visit.query(name) ?? "").trimmingCharacters(in: .whitespaces))
        })
    }

    func filter(_ times: OfficeTime) -> AuditFilter {
      var filter = AuditFilter(
        actor: typed["actor"] ?? "", action: typed["action"] ?? "", subject: typed["subject"] ?? "")
      func start(_ name: String) -> Date? {
        typed[name].flatMap { CalendarText.day($0) }.flatMap { times.start(ofDay: $0) }
      }
      if let from = start("from") { filter.from = from.unixSecond }
      if let last = start("to") {
        let next = times.day(last, offset: 1)
        filter.end = times.start(ofDay: next)?.unixSecond ?? filter.end
      }
      return filter
    }

    /// The filter for the address of the next page.
    var query: String {
      Self.names.compactMap { name in
        typed[name].flatMap { $0.isEmpty ? nil : $0 }
          .flatMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
          .map { "&\(name)=\($0)" }
      }.joined()
    }

    func values(_ texts: Texts) -> [String: Any] {
      var values: [String: Any] = typed.filter { $0.key != "action" }
      values["actions"] = AuditAction.allCases.map { action in
        [
          "value": action.rawValue, "title": texts.action(action.rawValue),
          "isChosen": action.rawValue == typed["action"],
        ] as [String: Any]
      }
      return values
    }
  }

  /// The whole log is sent while it is read.
  private func export(_ visit: Visit, _ form: Form) async throws -> Response {
    try await audit.append(AuditEvent(visit.account.name, .auditExported))
    var response = PageRenderer.download(
      "", name: "audit.jsonl", type: "application/jsonl; charset=utf-8")
    response.headers[.contentLength] = nil
    response.body = ResponseBody { [audit] writer in
      try await audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce) { entry in
        try await writer.write(ByteBuffer(string: entry.line + "\n"))
      }
      try await writer.finish(nil)
    }
    return response
  }
}

/// The template of the audit log.
enum AuditTemplates {
  static let audit = """
    <h1>{{t.auditTitle}}</h1>
    <p class="{{verdictClass}}" role="status" id="verdict">{{verdict}}</p>
    <p>{{t.auditHead}}: <code id="head">{{head}}</code></p>
    <p class="help">{{t.auditHeadHelp}}</p>
    <form method="post" action="/audit/export">\(LayoutTemplate.token)
    <button id="export">{{t.auditExport}}</button></form>
    <form method="get" action="/audit" class="card filter" role="search" aria-labelledby="filter-title">
    <h2 id="filter-title">{{t.auditFilter}}</h2>
    <label for="actor">{{t.auditActor}}</label>
    <input id="actor" name="actor" type="text" autocomplete="off" value="{{actor}}">
    <label for="action">{{t.auditAction}}</label>
    <select id="action" name="action"><option value="">{{t.auditAll}}</option>
    {{#actions}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{title}}</option>{{/actions}}</select>
    <label for="subject">{{t.auditSubject}}</label>
    <input id="subject" name="subject" type="text" autocomplete="off" value="{{subject}}">
    <label for="from">{{t.auditFrom}}</label><input id="from" name="from" type="date" value="{{from}}">
    <label for="to">{{t.auditTo}}</label><input id="to" name="to" type="date" value="{{to}}">
    <div class="actions"><button id="filter">{{t.auditShow}}</button>
    <a class="button" href="/audit">{{t.auditAll}}</a></div>
    </form>
    \(LayoutTemplate.wide("audit-caption"))
    <table id="audit"><caption id="audit-caption">{{t.auditCaption}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">#</th><th scope="col">{{t.time}}</th><th scope="col">{{t.auditActor}}</th>
    <th scope="col">{{t.auditAction}}</th><th scope="col">{{t.auditSubject}}</th><th scope="col">{{t.auditDetail}}</th>
    </tr></thead>
    <tbody>
    {{#entries}}
    <tr><td>{{sequence}}</td><td class="time">{{time}}</td><td>{{actor}}</td><td>{{action}}</td><td>{{subject}}</td>
    <td>{{detail}}</td></tr>
    {{/entries}}
    </tbody></table></div>
    {{^entries}}<p id="none">{{t.auditNone}}</p>{{/entries}}
    {{#older}}<p><a class="button" id="older" href="{{older}}">{{t.auditOlder}}</a></p>{{/older}}
    """
}
