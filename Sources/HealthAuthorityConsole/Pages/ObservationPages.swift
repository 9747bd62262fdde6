// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import World

/// The funnel and the list of exports.
struct ObservationPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/funnel", .holders(of: .readStatistics), funnel)
    pages.get(router, "/funnel/csv", .holders(of: .readStatistics), funnelFile)
    pages.get(router, "/exports", .holders(of: .readStatistics), exports)
  }

  // MARK: - Funnel

  private func days() async throws -> [ShownFunnelDay] {
    try await authority.funnel().suffix(ConsoleLimit.funnelDaysMax).map {
      ShownFunnelDay($0, least: ConsoleLimit.shownCountMin)
    }
  }

  private static func text(_ count: ShownCount, _ texts: Texts) -> String {
    switch count {
    case .exact(let count): "\(count)"
    case .few: texts[.funnelFew, "\(ConsoleLimit.shownCountMin)"]
    case .unknown: texts[.unknown]
    }
  }

  /// The columns of the table and of the file.
  private static let columns: [TextKey] = [
    .date, .funnelIssued, .funnelRedeemed, .funnelRedeemMinutes, .funnelUploads,
    .funnelUploadMinutes, .funnelFileMinutes, .funnelPublished,
  ]

  private func funnelFile(_ visit: Visit) async throws -> Response {
    let texts = visit.texts
    let rows = try await self.days().map { day in
      [
        Self.day(day), Self.text(day.issued, texts), Self.text(day.redeemed, texts),
        day.redeemMinutes.map(String.init) ?? "", Self.text(day.uploads, texts),
        Self.text(day.uploadTime), Self.text(day.fileTime), Self.text(day.published, texts),
      ]
    }
    return PageRenderer.download(
      CSV.text(
        [Self.columns.map { texts[$0] }] + rows, separator: CSV.separator(for: visit.language)),
      name: "funnel.csv", type: "text/csv; charset=utf-8")
  }

  private func funnel(_ visit: Visit) async throws -> Response {
    let least = ConsoleLimit.shownCountMin
    let (days, texts) = (try await self.days(), visit.texts)
    // Keys in files are many times as many as codes: one scale would hide the codes.
    let drawn: [(TextKey, (ShownFunnelDay) -> ShownCount)] = [
      (.funnelIssued, { $0.issued }), (.funnelRedeemed, { $0.redeemed }),
      (.funnelUploads, { $0.uploads }),
    ]
    func text(_ count: ShownCount) -> String { Self.text(count, texts) }
    let chart = Picture.chart(
      title: texts[.funnelChart], columns: days.map { String(Self.day($0).dropFirst(5)) },
      series: drawn.map { key, count in
        Picture.Series(
          name: texts[key], values: days.map { count($0).height },
          labels: days.map { day in
            switch count(day) {
            case .exact(let count): "\(count)"
            case .few: "<\(least)"
            case .unknown: "–"
            }
          })
      })
    let values: [String: Any] = [
      "lead": texts[.funnelLead, "\(least - 1)"], "isEmpty": days.isEmpty, "chart": chart,
      "days": days.map { day in
        [
          "day": Self.day(day), "issued": text(day.issued), "redeemed": text(day.redeemed),
          "redeemMinutes": day.redeemMinutes.map(String.init) ?? "–",
          "uploads": text(day.uploads), "uploadMinutes": Self.text(day.uploadTime),
          "fileMinutes": Self.text(day.fileTime), "published": text(day.published),
        ]
      },
    ]
    return pages.renderer.response(Page(texts[.funnelTitle], .funnel, values), for: visit)
  }

  private static func day(_ day: ShownFunnelDay) -> String {
    OfficeTime.utcDay(Date(unixSecond: day.day))
  }

  private static func text(_ time: MedianTime?) -> String {
    switch time {
    case .under(let minutes): "< \(minutes)"
    case .over(let minutes): "> \(minutes)"
    case nil: "–"
    }
  }

  // MARK: - Exports

  /// The time between two files, in hours if it is several whole ones.
  private static func period(_ seconds: Int, _ texts: Texts) -> String {
    seconds > 3_600 && seconds % 3_600 == 0
      ? texts[.exportsHours, "\(seconds / 3_600)"] : texts[.exportsMinutes, "\(seconds / 60)"]
  }

  private func exports(_ visit: Visit) async throws -> Response {
    let texts = visit.texts
    // Without the instructions, the files are shown as not withdrawn.
    let withdrawn = Set((try? await authority.instructions().withdrawn) ?? [])
    let mayWithdraw = try visit.account.role.rights.contains(.operatePhones)
    let exports = try await authority.exports().enumerated().map { index, export -> [String: Any] in
      let root = export.root.isEmpty ? texts[.exportsFirst] : export.root
      return [
        "mayWithdraw": mayWithdraw,
        "number": index + 1, "name": texts[.exportsName, root, export.region],
        "next": texts[
          .exportsNext, visit.time(export.nextFile), Self.period(export.periodSeconds, texts),
          "\(export.keysMin)"],
        "hasFiles": !export.files.isEmpty,
        "files": export.files.map { file -> [String: Any] in
          let isWithdrawn = withdrawn.contains(file.hash)
          let signature = texts[file.isSigned ? .exportsValid : .exportsInvalid]
          return [
            "name": file.name, "end": visit.time(file.end), "bytes": "\(file.bytes)",
            "keys": "\(file.keyCount)", "hash": "\(file.hash)",
            "padding": file.padding.map(String.init) ?? "–",
            "signature": isWithdrawn ? "\(signature), \(texts[.exportsWithdrawn])" : signature,
            "action": isWithdrawn ? "restore" : "withdraw",
            "button": texts[isWithdrawn ? .phonesRestore : .phonesWithdrawButton],
            "export": texts[.exportsName, root, export.region],
          ]
        },
      ]
    }
    return pages.renderer.response(
      Page(texts[.exportsTitle], .exports, ["exports": exports]), for: visit)
  }
}

/// A count for a page: suppressed if it is so small that it could reveal something about a person.
///
/// Zero is shown, because it concerns no person.
enum ShownCount: Hashable, Sendable {
  case exact(Int)
  /// Above zero and below the minimum.
  case few
  /// The server does not count this.
  case unknown

  /// - Parameter least: The smallest count above zero that is shown.
  init(_ count: Int?, least: Int) {
    guard let count else {
      self = .unknown
      return
    }
    self = count > 0 && count < least ? .few : .exact(max(0, count))
  }

  /// The value for a chart, in which suppressed counts are drawn as zero.
  var height: Int {
    if case .exact(let count) = self { count } else { 0 }
  }
}

/// The counts of a day as they are shown.
///
/// Two consecutive counts of the funnel that differ by less than the minimum would reveal the difference, so the second
/// one is suppressed.
struct ShownFunnelDay: Hashable, Sendable {
  let day: Int64
  let issued: ShownCount
  let redeemed: ShownCount
  /// In minutes, rounded up; nil if `redeemed` is not shown.
  let redeemMinutes: Int?
  let uploads: ShownCount
  /// Nil if `uploads` is not shown.
  let uploadTime: MedianTime?
  /// Nil if `uploads` is not shown.
  let fileTime: MedianTime?
  let published: ShownCount

  init(_ day: FunnelDay, least: Int) {
    self.day = day.day
    issued = ShownCount(day.issued, least: least)
    redeemed = Self.step(day.redeemed, after: day.issued, least)
    var seconds: Int?
    if case .exact(1...) = redeemed { seconds = day.redeemSeconds }
    redeemMinutes = seconds.map { ($0 + 59) / 60 }
    uploads = Self.step(day.uploads, after: day.redeemed, least)
    if case .exact(1...) = uploads {
      (uploadTime, fileTime) = (day.uploadTime, day.fileTime)
    } else {
      (uploadTime, fileTime) = (nil, nil)
    }
    // Keys in files include padding, so they reveal nothing about one upload.
    published = ShownCount(day.published, least: least)
  }

  private static func step(_ count: Int?, after before: Int?, _ least: Int) -> ShownCount {
    if let count, let before, count != before, abs(before - count) < least, count > 0 {
      return .few
    }
    return ShownCount(count, least: least)
  }
}

/// The templates of the funnel and the exports.
enum ObservationTemplates {
  static let funnel = """
    <h1 id="funnel-title">{{t.funnelTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#isEmpty}}<p>{{t.funnelEmpty}}</p>{{/isEmpty}}
    {{^isEmpty}}
    <p><a class="button" id="funnel-csv" href="/funnel/csv">{{t.officialsDownload}}</a></p>
    \(LayoutTemplate.wide("funnel-title")){{{chart}}}</div>
    \(LayoutTemplate.wide("funnel-caption"))
    <table id="funnel"><caption id="funnel-caption">{{t.funnelCaption}}. {{t.daysInUTC}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.funnelIssued}}</th>
    <th scope="col">{{t.funnelRedeemed}}</th><th scope="col">{{t.funnelRedeemMinutes}}</th>
    <th scope="col">{{t.funnelUploads}}</th><th scope="col">{{t.funnelUploadMinutes}}</th>
    <th scope="col">{{t.funnelFileMinutes}}</th><th scope="col">{{t.funnelPublished}}</th></tr></thead>
    <tbody>
    {{#days}}
    <tr><th scope="row" class="time">{{day}}</th><td>{{issued}}</td><td>{{redeemed}}</td><td>{{redeemMinutes}}</td>\
    <td>{{uploads}}</td><td>{{uploadMinutes}}</td>\
    <td>{{fileMinutes}}</td><td>{{published}}</td></tr>
    {{/days}}
    </tbody></table></div>
    {{/isEmpty}}
    """

  static let exports = """
    <h1>{{t.exportsTitle}}</h1>
    {{#exports}}
    <section aria-label="{{name}}">
    <h2>{{name}}</h2>
    <p>{{next}}</p>
    {{#hasFiles}}
    \(LayoutTemplate.wide("files-{{number}}-caption"))
    <table class="files"><caption id="files-{{number}}-caption">{{t.exportsCaption}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.exportsFile}}</th><th scope="col">{{t.exportsEnd}}</th>
    <th scope="col">{{t.exportsBytes}}</th><th scope="col">{{t.exportsKeys}}</th>
    <th scope="col">{{t.exportsPadding}}</th>
    <th scope="col">{{t.exportsSignature}}</th><th scope="col">SHA-256</th>\
    {{#mayWithdraw}}<th scope="col">{{t.actions}}</th>{{/mayWithdraw}}</tr></thead>
    <tbody>
    {{#files}}
    <tr><th scope="row">{{name}}</th><td class="time">{{end}}</td><td>{{bytes}}</td><td>{{keys}}</td>
    <td>{{padding}}</td>
    <td>{{signature}}</td><td><code>{{hash}}</code></td>\
    {{#mayWithdraw}}<td><form method="post" action="/phones/{{action}}">\(LayoutTemplate.token)
    <input type="hidden" name="hash" value="{{hash}}">
    <button class="quiet" aria-label="{{button}}: {{export}}, {{name}}">{{button}}</button></form></td>\
    {{/mayWithdraw}}</tr>
    {{/files}}
    </tbody></table></div>
    <p class="help">{{t.exportsPaddingHelp}}</p>
    {{/hasFiles}}
    {{^hasFiles}}<p>{{t.exportsNone}}</p>{{/hasFiles}}
    </section>
    {{/exports}}
    """
}
