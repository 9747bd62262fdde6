// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

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
    let entries = try await audit.newest(count, before: visit.query("before").flatMap { Int64($0) })
    let chain = try await audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce)
    var values: [String: Any] = [
      "head": chain.head, "verdictClass": chain.fault == nil ? "notice" : "fault",
      "verdict": chain.fault.map { visit.texts[.auditBroken, visit.texts.sentence($0)] }
        ?? visit.texts[.auditIntact, "\(chain.count)"],
      "entries": entries.map {
        [
          "sequence": "\($0.sequence)", "time": visit.time($0.time),
          "actor": $0.actor == AuditEvent.commandLine ? visit.texts[.auditCommandLine] : $0.actor,
          "action": visit.texts.action($0.action), "subject": $0.subject, "detail": $0.detail,
        ]
      },
    ]
    if entries.count == count, let last = entries.last { values["older"] = "\(last.sequence)" }
    return pages.renderer.response(Page(visit.texts[.auditTitle], .audit, values), for: visit)
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
    {{#older}}<p><a class="button" href="/audit?before={{older}}">{{t.auditOlder}}</a></p>{{/older}}
    """
}
